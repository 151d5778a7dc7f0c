// The wall clock jumps while an evaluation runs. Setting a machine's clock in a test would harm others, so
// this program puts its own clock_gettime, gettimeofday and time before libc's: the wall clock they give
// jumps by hours at every look, to and fro, while the monotonic clock is untouched. Times and limits must not
// notice.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

#include "fault/fault_setting.h"

namespace {

std::atomic<bool> jumping = false;
std::atomic<long> looks = 0;

// Hours forward, then back again, and further each time.
long jump_seconds() {
  if (!jumping) return 0;
  long n = ++looks;
  return (n % 2 != 0 ? 1 : -1) * (n % 50) * 3600;
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* out) noexcept {
  long result = ::syscall(SYS_clock_gettime, clock, out);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    out->tv_sec += jump_seconds();
  return static_cast<int>(result);
}

extern "C" int gettimeofday(timeval* out, void*) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  *out = {now.tv_sec, now.tv_nsec / 1000};  // declared never to be null
  return 0;
}

extern "C" time_t time(time_t* out) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}

namespace kforge {
namespace {

TEST(ClockJump, TimesAndLimitsDoNotNotice) {
  if (auto tier = strongest_tier(); !tier) GTEST_SKIP() << tier.error().text();
  ::setenv("KFORGE_HOME", shared_home().c_str(), 1);
  auto kernel = read_kernel_case(kHonest / "matmul_loops.cc");
  ASSERT_TRUE(kernel);
  EvalOptions options = check_of(kernel->task, kernel->file);
  options.check_only = false;
  options.seconds = 0.5;
  auto steady = evaluate_quietly(options);
  ASSERT_TRUE(steady) << steady.error().text();
  ASSERT_EQ(steady->outcome, Outcome::kPassed) << steady->reason;

  jumping = true;
  auto report = evaluate_quietly(options);
  jumping = false;
  EXPECT_GT(looks, 0) << "nothing looked at the wall clock: the seam does not work";
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->outcome, Outcome::kPassed) << report->gate_name() << ": " << report->reason;
  ASSERT_TRUE(report->time_ns && steady->time_ns);
  // A time that followed the jumps would be off by hours; what a busy machine does to two measurements is no
  // matter.
  EXPECT_LT(report->time_ns->value, 1000 * steady->time_ns->value);
  EXPECT_GT(report->time_ns->value, steady->time_ns->value / 1000);
}

// A limit still ends an endless kernel after its seconds, not after hours and not at once.
TEST(ClockJump, LimitsStillHold) {
  if (auto tier = strongest_tier(); !tier) GTEST_SKIP() << tier.error().text();
  ::setenv("KFORGE_HOME", shared_home().c_str(), 1);
  fs::path endless = fs::path(KFORGE_SOURCE_DIR) / "tests" / "adversarial" / "cheats" / "endless_loop.cc";
  EvalOptions options = check_of("core/relu", endless);
  options.call_limit_seconds = 1;
  ASSERT_TRUE(evaluate_quietly(options));
  jumping = true;
  auto start = std::chrono::steady_clock::now();
  auto report = evaluate_quietly(options);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  jumping = false;
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->outcome, Outcome::kTimeout);
  EXPECT_GT(seconds, 0.9);
  EXPECT_LT(seconds, 10);
}

}  // namespace
}  // namespace kforge
