// kforge eval from outside: exit codes, what is printed, what is stored, and what is left behind when
// interrupted.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "cli/kforge_run.h"

namespace kforge {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kTask = "platforms/cpu/example";
const std::string kKernel = "platforms/cpu/example/kernel.cc";

std::vector<std::string> eval(std::vector<std::string> more) {
  std::vector<std::string> all{"eval", kTask, "--shapes", "small", "--kernel"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

class EvalCli : public testing::Test {
 protected:
  TempDir folder_ = *TempDir::create();

  std::string kernel(const std::string& body) {
    fs::path file = folder_.path() / "kernel.cc";
    EXPECT_TRUE(write_file_atomic(file, "#include \"task.h\"\n" + body + "\n"));
    return file;
  }
};

TEST_F(EvalCli, HonestKernelPassesWithExitCodeZero) {
  Finished done = kforge_run(eval({kKernel, "--baseline", "onednn", "--seconds", "0.2"}));
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("PASSED"));
  EXPECT_THAT(done.out, HasSubstr("over onednn"));
  EXPECT_THAT(done.out, Not(HasSubstr("\x1b["))) << "no colours outside a terminal";
}

TEST_F(EvalCli, JsonHasThePromisedFields) {
  Finished done = kforge_run(eval({kKernel, "--baseline", "onednn", "--seconds", "0.2", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.out << done.err;
  json report = json::parse(done.out);
  for (const char* key :
       {"schema", "outcome", "gate", "reason", "time_ns", "baselines", "speedup", "precision", "error",
        "roofline", "cache", "threads", "general", "sandbox", "machine"})
    EXPECT_TRUE(report.contains(key)) << key;
  EXPECT_GT(report["time_ns"]["median"], 0);
  EXPECT_LE(report["time_ns"]["lo"], report["time_ns"]["hi"]);
  EXPECT_EQ(report["speedup"]["against"], "onednn");
  EXPECT_GT(report["roofline"]["fraction"], 0);
  EXPECT_LE(report["error"]["max_rel"], 5e-6);
  EXPECT_EQ(done.err, "");
}

TEST_F(EvalCli, CheckTimesNothing) {
  Finished done = kforge_run(eval({kKernel, "--check", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.out << done.err;
  json report = json::parse(done.out);
  EXPECT_TRUE(report["time_ns"].is_null());
  EXPECT_TRUE(report["baselines"].empty());
}

TEST_F(EvalCli, WrongKernelGivesGateReasonAndExitCodeOne) {
  std::string file = kernel(
      "extern \"C\" void kernel(const float* x, const float*, float* y) { for (long i = 0; i < task::B * "
      "task::D; ++i) y[i] = x[i]; }");
  Finished done = kforge_run(eval({file, "--json"}));
  ASSERT_EQ(done.exit_code, 1) << done.out << done.err;
  json report = json::parse(done.out);
  EXPECT_EQ(report["outcome"], "wrong_value");
  EXPECT_FALSE(report["gate"].is_null());
  EXPECT_FALSE(report["reason"].is_null());
  EXPECT_TRUE(report["speedup"].is_null());
  EXPECT_THAT(kforge_run(eval({file})).out, HasSubstr("WRONG VALUE at gate"));
}

TEST_F(EvalCli, CompileErrorShowsTheCompilersLines) {
  std::string file =
      kernel("extern \"C\" void kernel(const float* x, const float*, float* y) { y[0] = undeclared_name; }");
  Finished done = kforge_run(eval({file}));
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_THAT(done.out, HasSubstr("COMPILE ERROR"));
  EXPECT_THAT(done.out, HasSubstr("undeclared_name"));
  EXPECT_THAT(done.out, HasSubstr("kernel.cc:2"));
}

TEST_F(EvalCli, CrashIsNamed) {
  std::string file =
      kernel("extern \"C\" void kernel(const float*, const float*, float*) { *(volatile int*)nullptr = 1; }");
  json report = json::parse(kforge_run(eval({file, "--check", "--json"})).out);
  EXPECT_EQ(report["outcome"], "crash");
  EXPECT_THAT(report["reason"].get<std::string>(), HasSubstr("SIGSEGV"));
}

TEST_F(EvalCli, QuietPrintsNothing) {
  Finished done = kforge_run(eval({kKernel, "--check", "--quiet"}));
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.out + done.err, "");
}

TEST_F(EvalCli, ExplainShowsTheGates) {
  Finished done = kforge_run(eval({kKernel, "--check", "--explain"}));
  EXPECT_THAT(done.out, HasSubstr("symbols"));
  EXPECT_THAT(done.out, HasSubstr("calibration"));
}

TEST_F(EvalCli, UsersOwnBaselineIsNamedInTheSpeedup) {
  Finished done = kforge_run(eval({kKernel, "--baseline", "mine=" + kKernel, "--seconds", "0.2", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_EQ(json::parse(done.out)["speedup"]["against"], "mine");
}

TEST_F(EvalCli, ResultIsStoredShownAndConfirmed) {
  RunOptions options{.home = folder_.path()};
  json report = json::parse(
      kforge_run(eval({kKernel, "--baseline", "none", "--seconds", "0.2", "--json"}), options).out);
  std::string id = report["id"];
  EXPECT_THAT(kforge_run({"results"}, options).out, HasSubstr(id));
  EXPECT_THAT(kforge_run({"show", id}, options).out, HasSubstr("PASSED"));
  EXPECT_EQ(json::parse(kforge_run({"show", "last", "--json"}, options).out)["id"], id);
  EXPECT_THAT(kforge_run({"show", id, "--source"}, options).out, HasSubstr("sum_of_squares"));
  fs::path page = folder_.path() / "page.html";
  json written = json::parse(kforge_run({"report", id, "-o", page.string(), "--json"}, options).out);
  EXPECT_EQ(written["kind"], "result");
  EXPECT_THAT(*read_file(page), AllOf(HasSubstr("Verified"), HasSubstr("sum_of_squares"), HasSubstr(id)));
  EXPECT_THAT(kforge_run({"report", id, "-o", folder_.path().string()}, options).err,
              HasSubstr("is a folder"));
  EXPECT_EQ(kforge_run({"report", "2nosuchthing", "--json"}, options).exit_code, 2);
  Finished recheck = kforge_run({"recheck", id, "--json"}, options);
  json check = json::parse(recheck.out);
  EXPECT_TRUE(check["figures_follow"].get<bool>()) << recheck.out;
  EXPECT_TRUE(check["same_outcome"].get<bool>()) << recheck.out;
  EXPECT_EQ(recheck.exit_code, check["confirmed"] == true ? 0 : 1);
}

TEST_F(EvalCli, NoStoreLeavesNoRecord) {
  RunOptions options{.home = folder_.path()};
  ASSERT_EQ(kforge_run(eval({kKernel, "--check", "--no-store", "--quiet"}), options).exit_code, 0);
  EXPECT_TRUE(json::parse(kforge_run({"results", "--json"}, options).out)["results"].empty());
}

// Processes whose command line mentions the folder that this test alone uses.
int processes_using(const fs::path& folder) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    if (!std::isdigit(entry.path().filename().string()[0])) continue;
    auto environment = read_file(entry.path() / "environ");
    if (environment && environment->find("TMPDIR=" + folder.string()) != std::string::npos) ++count;
  }
  return count;
}

TEST_F(EvalCli, InterruptLeavesNothingBehind) {
  std::string file = kernel(
      "extern \"C\" void kernel(const float*, const float*, float*) { for (volatile int i = 0;; ++i) {} }");
  fs::path temporary = folder_.path() / "tmp";
  fs::create_directory(temporary);
  fs::permissions(folder_.path(), fs::perms(0755));
  fs::permissions(temporary, fs::perms(0777));
  auto environment = user_environment(shared_home());
  environment["TMPDIR"] = temporary;
  pid_t child = ::fork();
  if (child == 0) {
    std::vector<std::string> words;
    for (const auto& [name, value] : environment) words.push_back(name + "=" + value);
    std::vector<char*> env;
    for (std::string& word : words) env.push_back(word.data());
    env.push_back(nullptr);
    int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, 1);
    ::dup2(null, 2);
    if (::chdir(kRoot.c_str()) != 0) ::_exit(99);
    ::execle(kProgram.c_str(), "kforge", "eval", kTask.c_str(), "--shapes", "small", "--kernel", file.c_str(),
             "--check", "--timeout", "60", static_cast<char*>(nullptr), env.data());
    ::_exit(98);
  }
  std::this_thread::sleep_for(std::chrono::seconds(3));  // compiled by now, and in the endless call
  ASSERT_EQ(::kill(child, SIGINT), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(processes_using(temporary), 0);
  EXPECT_TRUE(fs::is_empty(temporary)) << fs::directory_iterator(temporary)->path();
}

}  // namespace
}  // namespace kforge
