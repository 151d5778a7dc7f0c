// kill -9 of the candidate, of the compiler, and of KForge itself at any moment. Nothing wrong is stored,
// nothing is lost, nothing keeps running, and the next evaluation works.
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault/fault_setting.h"

namespace kforge {
namespace {

class Killed : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("KFORGE_HOME", shared_home().c_str(), 1);
    if (auto tier = strongest_tier(); !tier) GTEST_SKIP() << tier.error().text();
    auto folder = TempDir::create();
    ASSERT_TRUE(folder);
    folder_ = std::move(*folder);
  }
  fs::path write_kernel(const std::string& text) {
    fs::path file = folder_.path() / "kernel.cc";
    EXPECT_TRUE(write_file_atomic(file, text));
    return file;
  }
  TempDir folder_;
};

const char kRelu[] =
    "#include \"task.h\"\n"
    "extern \"C\" void kernel(const float* x, float* y) {\n"
    "  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] > 0 ? x[i] : 0;\n"
    "}\n";

TEST_F(Killed, CandidateDuringACall) {
  fs::path endless = fs::path(KFORGE_SOURCE_DIR) / "tests" / "adversarial" / "cheats" / "endless_loop.cc";
  Assassin assassin("kforge-runner", std::chrono::milliseconds(150));
  auto report = evaluate_quietly(check_of("core/relu", endless));
  EXPECT_GE(assassin.killed(), 1);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->outcome, Outcome::kCrash);
  EXPECT_THAT(report->reason, testing::HasSubstr("SIGKILL"));
  expect_works();
}

// A compiler that was killed says nothing about the source: the failure must not be kept for the next time.
TEST_F(Killed, CompilerHalfWay) {
  // New content each time, so that no cache knows it, and slow enough to be hit.
  std::string slow =
      std::string("// ") + std::to_string(::getpid()) + " " + std::to_string(std::rand()) + "\n" + kRelu +
      "template <int N> struct Slow { static constexpr long run() { long s = N; for (long i = 0; i < 100000; "
      "++i) s += i ^ N; return s; } static constexpr long value = run() + Slow<N - 1>::value; };\n"
      "template <> struct Slow<0> { static constexpr long value = 0; };\n"
      "extern const long slow_value; const long slow_value = Slow<20>::value;\n";
  fs::path file = write_kernel(slow);
  {
    Assassin assassin("cc1plus", std::chrono::milliseconds(60));
    auto report = evaluate_quietly(check_of("core/relu", file));
    EXPECT_GE(assassin.killed(), 1);
    if (report) {
      EXPECT_NE(report->outcome, Outcome::kPassed);
      EXPECT_THAT(report->reason, testing::Not(testing::IsEmpty()));
    }
  }
  auto again = evaluate_quietly(check_of("core/relu", file));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->outcome, Outcome::kPassed) << again->reason;
}

// KForge itself, at moments spread over a whole evaluation: opening, compiling, judging, writing the result.
TEST_F(Killed, ParentAtAnyMoment) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  fs::path home = folder_.path() / "home";
  fs::create_directory(home);
  ::setenv("KFORGE_HOME", home.c_str(), 1);
  expect_works();  // caches filled: the moments below spread over what is left
  std::srand(static_cast<unsigned>(::getpid()));
  for (int turn = 0; turn < 12; ++turn) {
    fs::path file = write_kernel(std::string(kRelu) + "// turn " + std::to_string(turn) + "\n");
    pid_t child = ::fork();
    if (child == 0) {
      auto report = evaluate_quietly(check_of("core/relu", file));
      ::_exit(report && report->passed() ? 0 : 1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + std::rand() % 500));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "turn " << turn;
  }
  for (int wait = 0; wait < 40 && !descendants().empty(); ++wait) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  for (const FoundProcess& process : descendants()) ADD_FAILURE() << process.command << " still runs";
  expect_whole_store(home);
  expect_works();
}

}  // namespace
}  // namespace kforge
