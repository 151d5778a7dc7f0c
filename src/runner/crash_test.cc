// Candidates that crash, or ask the kernel for what they may not: each must be named for what it did.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <csignal>

#include "runner/runner_under_test.h"

namespace kforge {
namespace {

using testing::HasSubstr;

// x[0] chooses what goes wrong; with "call" x holds the number and the arguments of a system call as 64-bit
// words.
const char* const kMisdeeds = R"(
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <unistd.h>
#include <sys/syscall.h>
__attribute__((noinline)) int deeper(int n) { volatile char room[4096]; room[n & 4095] = 1; return deeper(n + 1) + room[0]; }
extern "C" void kernel(const float* x, const float* w, float* y) {
  volatile int zero = 0, seven = 7;
  switch ((int)x[0]) {
    case 0: y[0] = w[0]; break;
    case 1: y[0] = ((volatile const float*)x)[16]; break;
    case 2: y[0] = ((volatile const float*)x)[-1020]; break;
    case 3: const_cast<float*>(x)[1] = 1; break;
    case 4: ((volatile float*)y)[16] = 1; break;
    case 5: *(volatile int*)nullptr = 1; break;
    case 6: y[0] = deeper(0); break;
    case 7: __builtin_trap();
    case 8: y[0] = seven / zero; break;
    case 9: abort();
    case 10: throw std::runtime_error("kernel");
    case 11: exit(0);
    case 12:
      #pragma omp parallel
      { *(volatile int*)8 = 1; }
      break;
    case 13: for (;;) {}
    case 14: ((volatile const float*)w)[0]; const_cast<float*>(w)[0] = 2; break;
    case 15: *(volatile int*)0x4141414141414141 = 1; break;
    case 100: {
      long words[7]; memcpy(words, x + 1, sizeof words);
      errno = 0;
      y[0] = syscall(words[0], words[1], words[2], words[3], words[4], words[5], words[6]);
      y[1] = errno;
      break;
    }
    case 101: { int r; asm volatile("int $0x80" : "=a"(r) : "a"(20)); y[0] = r; break; }
  }
})";

const CompiledCandidate& misdeeds() {
  static CompiledCandidate candidate(kMisdeeds);
  return candidate;
}

class Misdeed : public testing::TestWithParam<SandboxTier> {
 protected:
  // The answer to one call of the candidate above.
  Reply answer(int what, std::vector<long> words = {}) {
    runner_ = std::make_unique<RunnerUnderTest>(misdeeds(), GetParam());
    EXPECT_EQ(runner_->start().head.type, KFORGE_DONE);
    float* x = runner_->tensor(KFORGE_ARENA_INPUTS, 0);
    x[0] = static_cast<float>(what);
    words.resize(7);
    std::memcpy(x + 1, words.data(), 7 * sizeof(long));
    return runner_->call();
  }
  KforgeFault fault(int what, std::vector<long> words = {}) {
    Reply reply = answer(what, std::move(words));
    EXPECT_EQ(reply.head.type, KFORGE_FAULT);
    EXPECT_EQ(reply.payload.size(), sizeof(KforgeFault));
    KforgeFault fault = reply.fault();
    EXPECT_EQ(fault.stage, KFORGE_CALL);
    EXPECT_EQ(runner_->process().wait()->exit_code, 128 + fault.signal);
    return fault;
  }
  std::unique_ptr<RunnerUnderTest> runner_;
};
INSTANTIATE_TEST_SUITE_P(Tiers, Misdeed, testing::Values(SandboxTier::kBubblewrap, SandboxTier::kLandlock),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_P(Misdeed, ATouchedGuardNamesTheTensorAndTheSide) {
  struct {
    int what, argument, place;
  } cases[] = {{1, 0, KFORGE_FAULT_AFTER_TENSOR},
               {2, 0, KFORGE_FAULT_BEFORE_TENSOR},
               {3, 0, KFORGE_FAULT_IN_TENSOR},
               {4, 2, KFORGE_FAULT_AFTER_TENSOR},
               {14, 1, KFORGE_FAULT_IN_TENSOR}};
  for (const auto& expected : cases) {
    KforgeFault got = fault(expected.what);
    EXPECT_EQ(got.signal, SIGSEGV) << expected.what;
    EXPECT_EQ(got.argument, expected.argument) << expected.what;
    EXPECT_EQ(got.place, expected.place) << expected.what;
  }
}

TEST_P(Misdeed, OtherCrashesAreToldApart) {
  EXPECT_EQ(fault(5).place, KFORGE_FAULT_NULL);
  KforgeFault overflow = fault(6);
  EXPECT_EQ(overflow.signal, SIGSEGV);
  EXPECT_EQ(overflow.place, KFORGE_FAULT_STACK);
  KforgeFault trap = fault(7);
  EXPECT_EQ(trap.signal, SIGILL);
  EXPECT_EQ(trap.place, KFORGE_FAULT_TRAP);
  EXPECT_EQ(fault(8).signal, SIGFPE);
  EXPECT_EQ(fault(9).signal, SIGABRT);
  EXPECT_EQ(fault(10).signal, SIGABRT) << "an exception nobody catches";
  EXPECT_EQ(fault(12).place, KFORGE_FAULT_NULL) << "in a thread of OpenMP";
  EXPECT_EQ(fault(15).place, KFORGE_FAULT_UNKNOWN);
}

TEST_P(Misdeed, FramesLieInTheCandidate) {
  KforgeFault got = fault(5);
  ASSERT_GE(got.frame_count, 2u);
  auto symbols = run_command({.argv = {"nm", "-D", misdeeds().path()}});  // "0000000000001139 T kernel"
  ASSERT_TRUE(symbols.has_value() && symbols->ok());
  std::size_t at = symbols->out.find(" T kernel");
  ASSERT_TRUE(at != std::string::npos && at >= 16);
  std::uint64_t offset = std::stoull(symbols->out.substr(at - 16, 16), nullptr, 16);
  EXPECT_GE(got.frames[0], offset);
  EXPECT_LT(got.frames[0], offset + 4096);
  EXPECT_EQ(got.frames[1], 0u) << "the runner's own code";
}

TEST_P(Misdeed, LeavingOrHangingIsNoAnswer) {
  EXPECT_TRUE(answer(11).ended);
  EXPECT_EQ(runner_->process().wait()->exit_code, 0);
  timeval short_time{0, 50'000};
  runner_ = std::make_unique<RunnerUnderTest>(misdeeds(), GetParam());
  ASSERT_EQ(runner_->start().head.type, KFORGE_DONE);
  runner_->tensor(KFORGE_ARENA_INPUTS, 0)[0] = 13;
  ::setsockopt(runner_->socket(), SOL_SOCKET, SO_RCVTIMEO, &short_time, sizeof short_time);
  EXPECT_TRUE(runner_->call().ended);
  EXPECT_FALSE(runner_->process().ended());
  runner_->process().kill();
  EXPECT_EQ(runner_->process().wait()->signal, SIGKILL);
}

#if defined(__x86_64__)

constexpr long kNoAddress = 4096;  // an address that is not mapped: the filter must answer before it is read

TEST_P(Misdeed, HostileCallsAreRefusedByName) {
  struct {
    const char* name;
    std::vector<long> words;
  } cases[] = {
      {"fork", {SYS_fork}},
      {"clone", {SYS_clone, SIGCHLD}},
      {"execve", {SYS_execve, kNoAddress, 0, 0}},
      {"execveat", {SYS_execveat, 3, kNoAddress, 0, 0, AT_EMPTY_PATH}},
      {"socket", {SYS_socket, AF_INET, SOCK_STREAM, 0}},
      {"ptrace", {SYS_ptrace, 0}},
      {"process_vm_writev", {SYS_process_vm_writev, 1}},
      {"open_by_handle_at", {SYS_open_by_handle_at, -100}},
      {"unshare", {SYS_unshare, 0x10000000}},
      {"bpf", {SYS_bpf, 0}},
      {"userfaultfd", {SYS_userfaultfd, 0}},
      {"io_uring_setup", {SYS_io_uring_setup, 1}},
      {"perf_event_open", {SYS_perf_event_open}},
      {"kill", {SYS_kill, 1, 0}},
      {"tgkill", {SYS_tgkill, 1, 1, SIGKILL}},
      {"personality", {SYS_personality, 0x0400000}},
      {"seccomp", {SYS_seccomp, 1, 0, kNoAddress}},
      {"memfd_create", {SYS_memfd_create, kNoAddress, 0}},
      {"pkey_mprotect", {SYS_pkey_mprotect, 0, 4096, PROT_READ, 0}},
      {"mmap", {SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0}},
      {"mprotect", {SYS_mprotect, 0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC}},
      {"rt_sigaction", {SYS_rt_sigaction, SIGSYS, 0, 0, 8}},
      {"rt_sigaction", {SYS_rt_sigaction, SIGSEGV, 0, 0, 8}},  // would step over an access outside
      {"rt_sigaction", {SYS_rt_sigaction, SIGBUS, 0, 0, 8}},
      {"rt_sigaction",
       {SYS_rt_sigaction, (1L << 32) | SIGSYS, 0, 0, 8}},  // the kernel looks at the lower half only
      {"prctl", {SYS_prctl, PR_SET_DUMPABLE, 1}},
      {"prctl", {SYS_prctl, PR_SET_SECCOMP, 1}},
      {"prctl", {SYS_prctl, 59 /* PR_SET_SYSCALL_USER_DISPATCH */, 1}},
      {"prctl", {SYS_prctl, PR_SET_MM, 1}},
      {"openat", {SYS_openat, AT_FDCWD, kNoAddress, O_WRONLY}},
      {"openat", {SYS_openat, AT_FDCWD, kNoAddress, O_RDWR | O_CREAT}},
      {"unlink", {SYS_unlink, kNoAddress}},
  };
  for (const auto& expected : cases) {
    KforgeFault got = fault(100, expected.words);
    EXPECT_EQ(got.signal, SIGSYS) << expected.name;
    EXPECT_EQ(syscall_name(got.syscall), expected.name);
  }
}

TEST_P(Misdeed, HarmlessCallsFailQuietly) {
  struct {
    std::vector<long> words;
    int error;
  } cases[] = {
      {{SYS_openat, AT_FDCWD, kNoAddress, O_RDONLY}, ENOENT},
      {{SYS_clone3, 0, 0}, ENOSYS},
      {{SYS_getpgid, 0}, EPERM},
      {{SYS_ioctl, 1, 0x5401 /* TCGETS */, 0}, ENOTTY},
      {{SYS_prlimit64, 0, 7, kNoAddress, 0}, EPERM},
  };
  runner_ = std::make_unique<RunnerUnderTest>(misdeeds(), GetParam());
  ASSERT_EQ(runner_->start().head.type, KFORGE_DONE);
  float* x = runner_->tensor(KFORGE_ARENA_INPUTS, 0);
  for (auto& expected : cases) {
    x[0] = 100;
    expected.words.resize(7);
    std::memcpy(x + 1, expected.words.data(), 7 * sizeof(long));
    Reply reply = runner_->call();
    ASSERT_EQ(reply.head.type, KFORGE_DONE) << expected.words[0];
    EXPECT_EQ(runner_->tensor(KFORGE_ARENA_OUTPUTS, 0)[0], -1);
    EXPECT_EQ(runner_->tensor(KFORGE_ARENA_OUTPUTS, 0)[1], expected.error) << expected.words[0];
  }
  // Asking again for the tile registers is what kernels with AMX do.
  std::vector<long> amx = {SYS_arch_prctl, 0x1022 /* ARCH_GET_XCOMP_PERM */, kNoAddress};
  amx.resize(7);
  std::memcpy(x + 1, amx.data(), 7 * sizeof(long));
  ASSERT_EQ(runner_->call().head.type, KFORGE_DONE);
  EXPECT_EQ(runner_->tensor(KFORGE_ARENA_OUTPUTS, 0)[1], EFAULT) << "it was not the filter that answered";
}

TEST_P(Misdeed, CallsOfAnotherArchitectureKill) {
  EXPECT_TRUE(answer(100, {0x40000000 | SYS_getpid}).ended);  // x32
  EXPECT_EQ(runner_->process().wait()->signal, SIGSYS);
  EXPECT_TRUE(answer(101).ended);  // i386
  EXPECT_EQ(runner_->process().wait()->signal, SIGSYS);
}

#endif

}  // namespace
}  // namespace kforge
