// The folder that a run leaves: what it says about compiling, calling and judging is done here, as typed.
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "cli/kforge_run.h"

namespace kforge {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// A Python with numpy, or nothing.
std::string python_with_numpy() {
  for (const fs::path& python : {kRoot / "out/venv/bin/python", fs::path("/usr/bin/python3")}) {
    auto done = run_command({.argv = {python.string(), "-c", "import numpy"}});
    if (done && done->ok()) return python.string();
  }
  return "";
}

class RunFolder : public testing::Test {
 protected:
  // Spaces and quotes are in many people's paths.
  RunFolder() { fs::create_directories(here_); }

  json forge(std::vector<std::string> words) {
    words.insert(words.begin(), "forge");
    words.insert(words.end(), {"--baseline", "none", "--attempts", "1", "--rounds", "3", "--json"});
    Finished done = kforge_run(words, {.cwd = here_});
    EXPECT_EQ(done.exit_code, 0) << done.err << done.out;
    return json::parse(done.out, nullptr, false);
  }
  Finished shell(const std::string& script, const fs::path& folder) {
    Command command{.argv = {"/bin/sh", "-c", script}, .cwd = folder, .timeout = std::chrono::minutes(3)};
    command.env = user_environment(shared_home());
    (*command.env)["PATH"] = kProgram.parent_path().string() + ":" + (*command.env)["PATH"];
    auto done = run_command(command);
    EXPECT_TRUE(done) << done.error().text();
    return done ? *done : Finished{.exit_code = -1};
  }
  // The command after a label in the report, its continuation lines joined.
  static std::string command_of(const fs::path& folder, const std::string& label) {
    std::string report = read_file(folder / "report.md").value_or("");
    std::smatch match;
    std::regex pattern("\n" + label + " +((?:[^\n]*\\\\\n)*[^\n]*)");
    EXPECT_TRUE(std::regex_search(report, match, pattern)) << label << "\n" << report;
    return match[1];
  }
  fs::path scratch_task(const std::string& graph, const std::string& shapes) {
    fs::path task = here_ / "my task";
    fs::create_directories(task);
    std::ofstream(task / "graph.onnx.txt") << graph;
    std::ofstream(task / "task.toml")
        << "description = \"mine\"\n[shapes]\n"
        << "bench = " << shapes << "\nsmall = " << shapes << "\nodd = " << shapes << "\n";
    return task;
  }
  // Compiled by the printed line, called by both callers.
  void expect_to_check_itself(const fs::path& folder) {
    Finished built = shell(command_of(folder, "compile"), folder);
    ASSERT_EQ(built.exit_code, 0) << built.err;
    Finished caller = shell(
        "g++ -std=c++17 -Wall -Werror -I.. check.cc ../libkernel.so -Wl,-rpath,\"$PWD/..\" -o ../caller && "
        "../caller",
        folder / "check");
    EXPECT_EQ(caller.exit_code, 0) << caller.out << caller.err;
    EXPECT_THAT(caller.out, HasSubstr("passed"));
    if (std::string python = python_with_numpy(); !python.empty()) {
      Finished script = shell("\"" + python + "\" check/check.py", folder);
      EXPECT_EQ(script.exit_code, 0) << script.out << script.err;
      EXPECT_EQ(script.out, caller.out) << "both callers see the same";
    }
  }

  TempDir folder_ = *TempDir::create(0755);
  fs::path here_ = folder_.path() / "it's here";
};

TEST_F(RunFolder, AKernelWithPrepareChecksItselfAndIsJudgedAsPrinted) {
  json report = forge({"fusion/gemm_scale_leakyrelu", "--shapes", "small", "--threads", "1", "--set", "N=40",
                       "--out", "out put"});
  fs::path folder = here_ / "out put";
  EXPECT_TRUE(report["best"]["setup"].is_object()) << "this one has prepare()";
  expect_to_check_itself(folder);
  std::string judge = command_of(folder, "judge");
  for (const char* option : {"--shapes small", "--threads 1", "--set N=40", "--baseline none"})
    EXPECT_THAT(judge, HasSubstr(option));
  Finished judged = shell(judge + " --check --json", folder);
  EXPECT_EQ(judged.exit_code, 0) << judge << judged.err;
  EXPECT_EQ(json::parse(judged.out)["kernel"]["hash"], report["best"]["kernel"]["hash"]);
  EXPECT_EQ(json::parse(judged.out)["dims"]["N"], 40);
  Finished whole = shell(std::regex_replace(judge, std::regex("kernel.cc"), ".") + " --check -q", folder);
  EXPECT_EQ(whole.exit_code, 0) << "the folder is the kernel too, without its callers";
}

TEST_F(RunFolder, CMakeBuildsAndChecks) {
  forge({"core/softmax", "--shapes", "small", "--out", "out"});
  // The lines from "check" up to the caller in Python, which may lack numpy.
  std::string report = *read_file(here_ / "out/report.md");
  std::size_t begin = report.find("\ncheck ") + 7, end = report.find("python3", begin);
  Finished done = shell("set -e\n" + report.substr(begin, end - begin), here_ / "out");
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("100% tests passed"));
}

TEST_F(RunFolder, NarrowTypesIntegersAndSeveralOutputsAreChecked) {
  fs::path task = scratch_task(
      "several (bfloat16[B, D] x, float16[B, D] h, int64[B, D] n) => (bfloat16[B, D] y, float16[B, D] g, "
      "int64[B, D] m, "
      "bool[B, D] p)\n{\n  y = Relu (x)\n  g = Add (h, h)\n  m = Add (n, n)\n  p = Less (n, m)\n}\n",
      "{ B = 7, D = 33 }");
  forge({task.string(), "--out", "out"});
  expect_to_check_itself(here_ / "out");
}

TEST_F(RunFolder, LargeTensorsAreStoredInPart) {
  forge({"core/relu", "--shapes", "small", "--set", "B=512,D=1000", "--out", "out"});
  EXPECT_LT(fs::file_size(here_ / "out/check/x.in"), 300'000u);
  expect_to_check_itself(here_ / "out");
}

// A wrong kernel is found by them.
TEST_F(RunFolder, TheCallersSeeAWrongResult) {
  forge({"core/relu", "--shapes", "small", "--out", "out"});
  std::ofstream(here_ / "out/kernel.cc")
      << "#include \"task.h\"\nextern \"C\" void kernel(const float* x, float* y) {\n"
         "  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i];\n}\n";
  ASSERT_EQ(shell(command_of(here_ / "out", "compile"), here_ / "out").exit_code, 0);
  Finished caller =
      shell("g++ -I.. check.cc ../libkernel.so -Wl,-rpath,\"$PWD/..\" -o ../caller && ../caller",
            here_ / "out/check");
  EXPECT_EQ(caller.exit_code, 1) << caller.out;
  EXPECT_THAT(caller.out, HasSubstr("FAILED"));
  if (std::string python = python_with_numpy(); !python.empty()) {
    Finished script = shell("\"" + python + "\" check/check.py", here_ / "out");
    EXPECT_EQ(script.exit_code, 1);
  }
}

TEST_F(RunFolder, NothingIsOverwrittenThatTheRunDidNotWrite) {
  fs::create_directories(here_ / "out");
  std::ofstream(here_ / "out/kernel.cc") << "mine\n";
  Finished done = kforge_run({"forge", "core/relu", "--shapes", "small", "--out", "out"}, {.cwd = here_});
  EXPECT_EQ(done.exit_code, 2) << "before anything is searched";
  EXPECT_THAT(done.err, HasSubstr("kernel.cc exists, and this run did not write it"));
  EXPECT_THAT(done.err, Not(HasSubstr("kforge show"))) << "the run never began";
  EXPECT_EQ(*read_file(here_ / "out/kernel.cc"), "mine\n");

  fs::remove(here_ / "out/kernel.cc");
  std::ofstream(here_ / "out/notes.txt") << "mine\n";
  forge({"core/relu", "--shapes", "small", "--out", "out"});
  EXPECT_EQ(*read_file(here_ / "out/notes.txt"), "mine\n") << "other files are not in the way";
  Finished second = kforge_run({"forge", "core/relu", "--shapes", "small", "--out", "out"}, {.cwd = here_});
  EXPECT_EQ(second.exit_code, 2) << "another run wrote these";
  EXPECT_EQ(kforge_run({"forge", "core/relu", "--shapes", "small", "--out", "/proc/nowhere"}, {.cwd = here_})
                .exit_code,
            2);
}

TEST_F(RunFolder, ADeletedFolderIsSaidAndWrittenAgain) {
  json report = forge({"core/relu", "--shapes", "small", "--out", "out"});
  std::string run = report["run"], kernel = *read_file(here_ / "out/kernel.cc");
  fs::remove_all(here_ / "out");
  Finished shown = kforge_run({"show", run}, {.cwd = here_});
  EXPECT_THAT(shown.out, HasSubstr("is gone"));
  EXPECT_THAT(shown.out, HasSubstr("--out DIR"));
  Finished again = kforge_run({"show", run, "--out", "new"}, {.cwd = here_});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(*read_file(here_ / "new/kernel.cc"), kernel);
  EXPECT_TRUE(fs::exists(here_ / "new/check/check.py"));
  EXPECT_EQ(kforge_run({"show", run, "--out", "new"}, {.cwd = here_}).exit_code, 0) << "its own files";
  std::ofstream(here_ / "new/kernel.cc", std::ios::app) << "// mine\n";
  Finished refused = kforge_run({"show", run, "--out", "new"}, {.cwd = here_});
  EXPECT_EQ(refused.exit_code, 2) << "changed by its user since";
  EXPECT_THAT(*read_file(here_ / "new/kernel.cc"), HasSubstr("// mine"));
}

// A constant result: whatever a program writes, zeros come close enough.
TEST_F(RunFolder, AVacuousTaskIsSaidInTheHeadline) {
  fs::path task =
      scratch_task("zero (float[B, D] x) => (float[B, D] y)\n{\n  y = Sub (x, x)\n}\n", "{ B = 8, D = 16 }");
  json report = forge({task.string(), "--out", "out"});
  EXPECT_THAT(report["headline"].get<std::string>(), HasSubstr("the task is vacuous"));
  EXPECT_THAT(*read_file(here_ / "out/report.md"), HasSubstr("the task is vacuous"));
  Finished shown = kforge_run({"show", report["run"]}, {.cwd = here_});
  EXPECT_THAT(shown.out, HasSubstr("VERIFIED ON A VACUOUS TASK"));
}

// The oracle, the expected values it keeps, and the shared tensors: 500 MB and four times the tensors. Warm
// caches, because what evicts a program from cold ones is twice the last cache, which machines differ in.
TEST_F(RunFolder, TheParentStaysSmall) {
  fs::path peak = here_ / "peak";
  Finished done = shell(
      "exec 3>peak; kforge forge core/conv2d_pointwise --baseline none --attempts 1 --rounds 3 --cache warm "
      "--out out --json & "
      "p=$!; while grep VmHWM /proc/$p/status > now 2>/dev/null && test -s now; do cp now peak; sleep 0.05; "
      "done; wait $p",
      here_);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  json shown = json::parse(kforge_run({"tasks", "show", "core/conv2d_pointwise", "--json"}).out);
  std::istringstream line(read_file(peak).value_or(""));
  std::string label;
  double kilobytes = 0;
  line >> label >> kilobytes;
  ASSERT_EQ(label, "VmHWM:");
  EXPECT_LT(kilobytes * 1024, 500e6 + 4 * shown["bytes"].get<double>());
}

}  // namespace
}  // namespace kforge
