// Every promise of the sandbox, in both tiers: what a program may do, and mostly what it may not.
#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>
#include <thread>

#include "base/files.h"
#include "sandbox/capture.h"

namespace kforge {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

const char* const kProbe = KFORGE_BINARY_DIR "/kforge-sandbox-probe";

struct Setting {
  SandboxTier tier;
  SandboxProfile profile;
};
std::string name_of_setting(const testing::TestParamInfo<Setting>& info) {
  return fmt::format("{}_{}", name_of(info.param.tier), name_of(info.param.profile));
}

class Sandbox : public testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    if (auto why = tier_unavailable(GetParam().tier)) GTEST_SKIP() << *why;
    auto folder = TempDir::create(0755);
    ASSERT_TRUE(folder.has_value());
    folder_ = std::move(*folder);
    ASSERT_EQ(::mkdir(writable().c_str(), 0755), 0);
    spec_.profile = GetParam().profile;
    spec_.limits.wall = milliseconds(20'000);
    spec_.writable = writable();
  }
  fs::path writable() const { return folder_.path() / "work"; }

  std::unique_ptr<SandboxedProcess> start(std::vector<std::string> words) {
    spec_.argv = {kProbe};
    spec_.argv.insert(spec_.argv.end(), words.begin(), words.end());
    auto process = start_sandboxed(spec_, GetParam().tier);
    EXPECT_TRUE(process.has_value()) << process.error().text();
    return process ? std::move(*process) : nullptr;
  }
  SandboxExit run(std::vector<std::string> words) {
    auto process = start(std::move(words));
    if (!process) return {};
    auto exit = process->wait();
    EXPECT_TRUE(exit.has_value());
    return exit ? *exit : SandboxExit{};
  }
  std::string said(std::vector<std::string> words) { return run(std::move(words)).out; }

  // Several attempts in one launch; the answer to each.
  std::vector<std::string> all_said(const std::vector<std::vector<std::string>>& attempts) {
    std::vector<std::string> words, answers;
    for (const auto& attempt : attempts) {
      if (!words.empty()) words.push_back("+");
      words.insert(words.end(), attempt.begin(), attempt.end());
    }
    std::istringstream lines(said(words));
    for (std::string line; std::getline(lines, line);) answers.push_back(line);
    EXPECT_EQ(answers.size(), attempts.size());
    return answers;
  }

  TempDir folder_;
  SandboxSpec spec_;
};

INSTANTIATE_TEST_SUITE_P(All, Sandbox,
                         testing::Values(Setting{SandboxTier::kBubblewrap, SandboxProfile::kCompile},
                                         Setting{SandboxTier::kBubblewrap, SandboxProfile::kNative},
                                         Setting{SandboxTier::kBubblewrap, SandboxProfile::kDriver},
                                         Setting{SandboxTier::kLandlock, SandboxProfile::kCompile},
                                         Setting{SandboxTier::kLandlock, SandboxProfile::kNative},
                                         Setting{SandboxTier::kLandlock, SandboxProfile::kDriver}),
                         name_of_setting);

TEST_P(Sandbox, ReportsExitCodesAndSignalsAsTheyWere) {
  EXPECT_EQ(run({"exit", "0"}).exit_code, 0);
  SandboxExit pretended = run({"exit", "139"});  // what a shell makes of SIGSEGV
  EXPECT_EQ(pretended.exit_code, 139);
  EXPECT_EQ(pretended.signal, 0);
  EXPECT_EQ(run({"crash"}).signal, SIGSEGV);
  EXPECT_EQ(run({"raise", std::to_string(SIGABRT)}).signal, SIGABRT);
}

TEST_P(Sandbox, HasNoNetworkAndNoWayToOtherProcesses) {
  for (const std::string& answer : all_said({{"inet"}, {"unix"}, {"ptrace"}, {"unshare"}, {"clone-user"}}))
    EXPECT_EQ(answer, "error EPERM");
  EXPECT_THAT(said({"kill", std::to_string(::getpid())}), StartsWith("error"));
}

TEST_P(Sandbox, CannotGainPrivileges) {
  EXPECT_THAT(said({"privileges"}), StartsWith("error"));
  if (::geteuid() != 0) return;
  unsigned uid = 0;
  int groups = -1;
  ASSERT_EQ(std::sscanf(said({"uid"}).c_str(), "%u %d", &uid, &groups), 2);
  EXPECT_GE(uid, 20'000u);
  EXPECT_EQ(groups, 0);
}

TEST_P(Sandbox, SeesOnlyWhatIsListed) {
  fs::path listed = folder_.path() / "listed", secret = folder_.path() / "secret";
  for (const fs::path& folder : {listed, secret}) {
    fs::create_directory(folder);
    ASSERT_TRUE(write_file_atomic(folder / "file", "text").has_value());
  }
  spec_.readable = {listed};
  EXPECT_EQ(said({"read", listed / "file"}), "ok\n");
  for (const std::string& answer : all_said({{"read", secret / "file"},
                                             {"read", "/etc/shadow"},
                                             {"read", "/etc/passwd"},
                                             {"read", "/root"},
                                             {"read", "/sys"},
                                             {"read", "/proc/1/environ"},
                                             {"read", fmt::format("/proc/{}/maps", ::getpid())}}))
    EXPECT_THAT(answer, StartsWith("error"));
}

TEST_P(Sandbox, SeesItselfInProcUnlessNative) {
  std::string expected = GetParam().profile == SandboxProfile::kNative ? "error" : "ok";
  EXPECT_THAT(said({"read", "/proc/self/maps"}), StartsWith(expected));
}

TEST_P(Sandbox, WritesOnlyInItsFolder) {
  fs::path listed = folder_.path() / "listed";
  fs::create_directory(listed);
  fs::permissions(listed, fs::perms(0777));
  spec_.readable = {listed};
  EXPECT_EQ(said({"write", writable() / "mine"}), "ok\n");
  EXPECT_TRUE(fs::exists(writable() / "mine"));
  for (const std::string& answer : all_said({{"write", listed / "new"},
                                             {"write", "/usr/new"},
                                             {"write", "/new"},
                                             {"write", "/dev/new"},
                                             {"write", "/etc/new"}}))
    EXPECT_THAT(answer, StartsWith("error"));
  said({"write", folder_.path() / "new"});  // may succeed, in a /tmp of the program's own
  EXPECT_FALSE(fs::exists(folder_.path() / "new"));
  EXPECT_FALSE(fs::exists(listed / "new"));
  EXPECT_EQ(said({"cwd"}), writable().string() + "\n");
}

TEST_P(Sandbox, HasNoFolderToWriteUnlessGiven) {
  spec_.writable.clear();
  EXPECT_THAT(said({"write", writable() / "mine"}), StartsWith("error"));
  EXPECT_EQ(said({"cwd"}), "/\n");
}

TEST_P(Sandbox, GetsItsEnvironmentAndDescriptorsAndNoOthers) {
  ::setenv("KFORGE_TEST_SECRET", "leaks", 1);
  int leaked = ::open("/dev/null", O_RDONLY);  // inheritable on purpose
  auto file = make_memfd("given", 10);
  spec_.fds = {file->get(), file->get()};
  spec_.env = {{"ONE", "1"}, {"TMPDIR", "/elsewhere"}};
  EXPECT_EQ(said({"fds"}), "0 1 2 3 4 ");
  EXPECT_EQ(said({"env"}), "ONE=1\nTMPDIR=/elsewhere\n");
  spec_.env.clear();
  spec_.fds.clear();
  spec_.writable.clear();
  EXPECT_EQ(said({"env"}), "");
  EXPECT_EQ(said({"fds"}), "0 1 2 ");
  ::close(leaked);
  ::unsetenv("KFORGE_TEST_SECRET");
}

TEST_P(Sandbox, PassesDescriptorsInTheOrderGiven) {
  auto small = make_memfd("small", 4096), large = make_memfd("large", 8192);
  spec_.fds = {large->get(), small->get()};
  auto process = start({"sleep", "5"});
  ASSERT_TRUE(process);
  struct stat third {
  }, fourth{};
  std::string folder = fmt::format("/proc/{}/fd/", process->pid());
  ASSERT_EQ(::stat((folder + "3").c_str(), &third), 0);
  ASSERT_EQ(::stat((folder + "4").c_str(), &fourth), 0);
  EXPECT_EQ(third.st_size, 8192);
  EXPECT_EQ(fourth.st_size, 4096);
}

TEST_P(Sandbox, LimitsTheNumberOfProcesses) {
  spec_.limits.processes = 20;
  auto start_time = std::chrono::steady_clock::now();
  SandboxExit exit = run({"fork"});
  int made = std::atoi(exit.out.c_str());
  EXPECT_GE(made, 5);
  EXPECT_LE(made, 25);
  EXPECT_TRUE(exit.left_processes);
  EXPECT_LT(std::chrono::steady_clock::now() - start_time, std::chrono::seconds(20))
      << "the sleepers were waited for";
}

TEST_P(Sandbox, LimitsMemory) {
  spec_.limits.memory_bytes = 256 << 20;
  EXPECT_EQ(said({"memory", "100"}), "ok\n");
  EXPECT_EQ(said({"memory", "400"}), "error ENOMEM\n");
}

// Each of three processes stays below the limit. Where the kernel can limit their sum it does; this is the
// other way.
TEST_P(Sandbox, LimitsTheMemoryOfAllItsProcesses) {
  if (GetParam().profile == SandboxProfile::kNative) return;  // a candidate is one process
  spec_.limits.control_groups = false;
  spec_.limits.memory_bytes = 256 << 20;
  SandboxExit exit = run({"memory-together", "100"});
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_TRUE(exit.memory_exceeded);
  EXPECT_FALSE(exit.wall_exceeded);
}

// Addresses that nobody uses cost nothing; what is held is limited all the same.
TEST_P(Sandbox, LetsDriversReserveAddresses) {
  if (GetParam().profile != SandboxProfile::kDriver) return;
  spec_.limits.control_groups = false;
  spec_.limits.memory_bytes = 256 << 20;
  EXPECT_EQ(said({"reserve", "512"}), "error ENOMEM\n");
  spec_.limits.reserves_addresses = true;
  EXPECT_EQ(said({"reserve", "512"}), "ok\n");
  EXPECT_TRUE(run({"memory-together", "100"}).memory_exceeded);
}

TEST_P(Sandbox, LimitsFileSize) {
  spec_.limits.file_bytes = 1 << 20;
  SandboxExit exit = run({"file", writable() / "large"});
  EXPECT_EQ(exit.signal, SIGXFSZ);
  EXPECT_LE(fs::file_size(writable() / "large"), 1u << 20);
}

TEST_P(Sandbox, LimitsWhatAFolderHolds) {
  spec_.limits.folder_bytes = 20 << 20;
  SandboxExit exit = run({"fill", writable()});
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_TRUE(exit.folder_exceeded);
  EXPECT_FALSE(exit.wall_exceeded);
}

TEST_P(Sandbox, IsKilledAtItsWallLimit) {
  spec_.limits.wall = milliseconds(150);
  auto start_time = std::chrono::steady_clock::now();
  SandboxExit exit = run({"sleep", "120"});
  auto took = std::chrono::steady_clock::now() - start_time;
  EXPECT_TRUE(exit.wall_exceeded);
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_GE(took, milliseconds(150));
  EXPECT_LT(took, std::chrono::seconds(60))
      << "a busy machine is slow to wake who kills it, but not that slow";
}

TEST_P(Sandbox, KeepsTheStartOfAFloodAndDropsTheRest) {
  spec_.limits.output_bytes = 64 << 10;
  SandboxExit exit = run({"flood", "20"});
  EXPECT_EQ(exit.exit_code, 7) << "the program was not blocked";
  EXPECT_TRUE(exit.output_truncated);
  EXPECT_EQ(exit.out, std::string(64 << 10, 'x'));
  EXPECT_EQ(exit.err.size(), std::size_t{64} << 10);
}

bool alive(pid_t pid) { return ::kill(pid, 0) == 0; }

// Host pids of processes with this text in their command line.
std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    auto line = read_file(entry.path() / "cmdline", 1 << 20);
    if (line && line->find(text) != std::string::npos)
      found.push_back(std::atoi(entry.path().filename().c_str()));
  }
  return found;
}

TEST_P(Sandbox, LeavesNoDaemonBehind) {
  std::string mark = fmt::format("daemon-of-{}-{}", ::getpid(), static_cast<int>(GetParam().profile));
  SandboxExit exit = run({"daemon", mark});
  EXPECT_EQ(exit.out, "left\n");
  EXPECT_TRUE(exit.left_processes);
  EXPECT_TRUE(processes_with(mark).empty());
}

TEST_P(Sandbox, CountsProcessesBesidesTheProgram) {
  auto quiet = start({"sleep", "20"});
  ASSERT_TRUE(quiet);
  EXPECT_EQ(quiet->other_processes(), 0);
  spec_.limits.processes = 12;
  spec_.argv = {kProbe};
  auto forking = start({"fork"});
  ASSERT_TRUE(forking);
  for (int i = 0; i < 200 && forking->other_processes() == 0 && !forking->ended(); ++i)
    std::this_thread::sleep_for(milliseconds(1));
  // Either they were seen while the program lived, or its report tells.
  auto exit = forking->wait();
  EXPECT_TRUE(exit->left_processes);
  EXPECT_EQ(forking->other_processes(), 0);
}

TEST_P(Sandbox, KnowsTheHostPidOfTheProgram) {
  auto process = start({"sleep", "20", "right-one"});
  ASSERT_TRUE(process);
  auto line = read_file(fmt::format("/proc/{}/cmdline", process->pid()), 4096);
  ASSERT_TRUE(line.has_value());
  EXPECT_THAT(*line, StartsWith(kProbe));
  EXPECT_FALSE(process->ended());
  pid_t pid = process->pid();
  process->kill();
  EXPECT_EQ(process->wait()->signal, SIGKILL);
  EXPECT_TRUE(process->ended());
  EXPECT_FALSE(alive(pid));
}

TEST_P(Sandbox, StopsAndResumesEveryThread) {
  auto shared = make_memfd("counters", 4096);
  auto map = Mapping::map(shared->get(), 4096, true);
  auto* counters = reinterpret_cast<volatile long*>(map->data());
  spec_.fds = {shared->get()};
  auto process = start({"count"});
  ASSERT_TRUE(process);
  for (int i = 0; i < 5000 && !(counters[0] && counters[1]); ++i)
    std::this_thread::sleep_for(milliseconds(1));
  ASSERT_TRUE(counters[0] && counters[1]);
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(process->stop());
    long first = counters[0], second = counters[1];
    std::this_thread::sleep_for(milliseconds(1));
    EXPECT_EQ(counters[0], first);
    EXPECT_EQ(counters[1], second);
    process->resume();
    for (int i = 0; i < 5000 && (counters[0] == first || counters[1] == second); ++i)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    EXPECT_NE(counters[0], first);
  }
  process->stop();  // a stopped program is killed like any other
}

TEST_P(Sandbox, DiesWithItsOwner) {
  pid_t pid = 0;
  {
    auto process = start({"sleep", "20"});
    ASSERT_TRUE(process);
    pid = process->pid();
    EXPECT_TRUE(alive(pid));
  }
  EXPECT_FALSE(alive(pid));
}

TEST_P(Sandbox, DiesWithKForgeHoweverThatEnds) {
  std::string mark = fmt::format("orphan-of-{}-{}", ::getpid(), static_cast<int>(GetParam().profile));
  pid_t kforge = ::fork();
  if (kforge == 0) {
    spec_.argv = {kProbe, "sleep", "30", mark};
    auto process = start_sandboxed(spec_, GetParam().tier);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(kforge, &status, 0), kforge);
  ASSERT_EQ(WTERMSIG(status), SIGKILL);
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!processes_with(mark).empty() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(milliseconds(5));
  EXPECT_TRUE(processes_with(mark).empty());
}

TEST_P(Sandbox, ExecutesAProgramBehindAClosedFolder) {
  auto closed = TempDir::create(0700);
  fs::path copy = closed->path() / "probe";
  fs::copy_file(kProbe, copy);
  spec_.argv = {copy, "exit", "3"};
  auto process = start_sandboxed(spec_, GetParam().tier);
  ASSERT_TRUE(process.has_value()) << process.error().text();
  EXPECT_EQ((*process)->wait()->exit_code, 3);
}

TEST_P(Sandbox, SaysWhatIsWrongWithARequest) {
  auto problem = [&](const SandboxSpec& spec) {
    auto process = start_sandboxed(spec, GetParam().tier);
    return process ? std::string("started") : process.error().text();
  };
  SandboxSpec spec = spec_;
  EXPECT_THAT(problem(spec), HasSubstr("absolute path"));
  spec.argv = {"/usr/bin/no-such-program"};
  EXPECT_THAT(problem(spec), HasSubstr("no-such-program"));
  spec.argv = {"/usr"};
  EXPECT_THAT(problem(spec), HasSubstr("cannot execute"));
  spec.argv = {kProbe, std::string("a\0b", 3)};
  EXPECT_THAT(problem(spec), HasSubstr("NUL"));
  spec.argv = {kProbe};
  spec.cpus = {5000};
  EXPECT_THAT(problem(spec), HasSubstr("processor 5000"));
  spec.cpus = {};
  spec.writable = folder_.path() / "absent";
  EXPECT_THAT(problem(spec), HasSubstr("absent"));
  if (::geteuid() != 0) return;
  auto closed = TempDir::create(0700);
  spec.writable.clear();
  spec.readable = {closed->path()};
  EXPECT_THAT(problem(spec), HasSubstr("0755"));
}

TEST_P(Sandbox, MayMakeCodeAndStartProgramsOnlyWhereTheProfileSaysSo) {
  EXPECT_EQ(said({"jit"}), "ok\n") << "the runner's own filter forbids it later";
  EXPECT_EQ(run({"exec", "/usr/bin/true"}).exit_code, 0);
}

TEST_P(Sandbox, RunsOnTheProcessorsGiven) {
  spec_.cpus = {0};
  auto process = start({"sleep", "5"});
  ASSERT_TRUE(process);
  auto status = read_file(fmt::format("/proc/{}/status", process->pid()), 1 << 16);
  EXPECT_THAT(*status, HasSubstr("Cpus_allowed_list:\t0\n"));
}

TEST(SandboxLimitsTest, ProcessorTimeEndsWithItsSignal) {
  SandboxSpec spec;
  spec.argv = {kProbe, "spin"};
  spec.limits.cpu_seconds = 1;
  auto process = start_sandboxed(spec, SandboxTier::kLandlock);
  ASSERT_TRUE(process.has_value());
  auto exit = (*process)->wait();
  EXPECT_EQ(exit->signal, SIGXCPU);
  EXPECT_GE(exit->usage.ru_utime.tv_sec * 1000 + exit->usage.ru_utime.tv_usec / 1000, 800);
}

TEST(SandboxProduct, IsAPlainFileAndNothingElse) {
  auto folder = TempDir::create();
  const fs::path& path = folder->path();
  ASSERT_TRUE(write_file_atomic(path / "plain", "content").has_value());
  ASSERT_TRUE(write_file_atomic(path / "twin", "content").has_value());
  fs::create_symlink("/etc/passwd", path / "link");
  fs::create_hard_link(path / "twin", path / "other-name");
  ASSERT_EQ(::mkfifo((path / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_product(path, "plain", 100).value(), "content");
  for (const char* name : {"link", "pipe", "twin", "absent", ".", "..", "../x", ""})
    EXPECT_FALSE(read_product(path, name, 100).has_value()) << name;
  EXPECT_FALSE(read_product(path, "plain", 3).has_value());
}

TEST(SandboxTiers, TheStrongestIsFoundAndNamed) {
  auto tier = strongest_tier();
  ASSERT_TRUE(tier.has_value()) << tier.error().text();
  EXPECT_FALSE(tier_unavailable(*tier).has_value());
  EXPECT_EQ(name_of(SandboxTier::kLandlock), "landlock");
  EXPECT_EQ(name_of(SandboxProfile::kDriver), "driver");
  EXPECT_EQ(name_of(SandboxProfile::kDesktop), "desktop");
}

TEST(SandboxTiers, WithoutASandboxLimitsAndCaptureStillHold) {
  SandboxSpec spec;
  spec.argv = {kProbe, "memory", "400"};
  spec.limits.memory_bytes = 256 << 20;
  auto process = start_sandboxed(spec, SandboxTier::kNone);
  ASSERT_TRUE(process.has_value());
  EXPECT_EQ((*process)->wait()->out, "error ENOMEM\n");
  EXPECT_EQ((*process)->group_limits(), "rlimits");
}

TEST(SandboxThreads, TwoEvaluationsRunAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 4; ++i) {
        SandboxSpec spec;
        spec.argv = {kProbe, "exit", std::to_string(10 * t + i)};
        auto process = start_sandboxed(spec, SandboxTier::kBubblewrap);
        ASSERT_TRUE(process.has_value()) << process.error().text();
        EXPECT_EQ((*process)->wait()->exit_code, 10 * t + i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// The thread that starts a program may end before it: the program must not die with the thread.
TEST(SandboxThreads, AProgramOutlivesTheThreadThatStartedIt) {
  for (SandboxTier tier : {SandboxTier::kBubblewrap, SandboxTier::kLandlock}) {
    std::unique_ptr<SandboxedProcess> process;
    std::thread([&] {
      SandboxSpec spec;
      spec.argv = {kProbe, "sleep", "20"};
      auto started = start_sandboxed(spec, tier);
      ASSERT_TRUE(started.has_value());
      process = std::move(*started);
    }).join();
    std::this_thread::sleep_for(milliseconds(30));
    ASSERT_TRUE(process);
    EXPECT_FALSE(process->ended());
  }
}

}  // namespace
}  // namespace kforge
