// Loading: what cannot be served is explained, and static initialisers are confined like everything else.
#include <gmock/gmock.h>

#include <csignal>

#include "runner/runner_under_test.h"

namespace kforge {
namespace {

using testing::HasSubstr;

class Loading : public testing::TestWithParam<SandboxTier> {
 protected:
  Reply load(const CompiledCandidate& candidate) {
    runner_ = std::make_unique<RunnerUnderTest>(candidate, GetParam());
    return runner_->start();
  }
  std::string problem(const std::string& source, std::vector<std::string> flags = {}) {
    CompiledCandidate candidate(source, std::move(flags));
    Reply reply = load(candidate);
    EXPECT_EQ(reply.head.type, KFORGE_ERROR);
    return reply.payload;
  }
  std::unique_ptr<RunnerUnderTest> runner_;
};
INSTANTIATE_TEST_SUITE_P(Tiers, Loading, testing::Values(SandboxTier::kBubblewrap, SandboxTier::kLandlock),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_P(Loading, AMissingKernelIsExplained) {
  EXPECT_THAT(problem("int unrelated;"), HasSubstr("no function kernel (extern \"C\") was found; define"));
  std::string mangled = problem("void kernel(const float*, float*) {}");
  EXPECT_THAT(
      mangled,
      HasSubstr("no function kernel (extern \"C\") was found; there is one with C++ linkage (_Z6kernel"));
  EXPECT_THAT(problem("extern \"C\" void* prepare() { return nullptr; }"),
              HasSubstr("kernel_prepared was not"));
}

TEST_P(Loading, AnUnresolvedSymbolOrABrokenFileIsExplained) {
  EXPECT_THAT(problem("extern \"C\" void nowhere(); extern \"C\" void kernel() { nowhere(); }"),
              testing::AllOf(HasSubstr("cannot be loaded"), HasSubstr("nowhere")));
  CompiledCandidate candidate("extern \"C\" void kernel() {}");
  ASSERT_TRUE(write_file_atomic(candidate.path(), "not a library").has_value());
  Reply reply = load(candidate);
  EXPECT_EQ(reply.head.type, KFORGE_ERROR);
  EXPECT_THAT(reply.payload, HasSubstr("cannot be loaded"));
}

TEST_P(Loading, AHostileInitialiserIsReportedAtItsStage) {
  CompiledCandidate candidate(R"(
    #include <sys/socket.h>
    static int attack = socket(2, 1, 0);
    extern "C" void kernel() {})",
                              {});
  Reply reply = load(candidate);
  ASSERT_EQ(reply.head.type, KFORGE_FAULT);
  EXPECT_EQ(reply.fault().signal, SIGSYS);
  EXPECT_EQ(syscall_name(reply.fault().syscall), "socket");
  EXPECT_EQ(reply.fault().stage, KFORGE_LOAD);
}

// While files can still be opened for loading, only the candidate's own can.
TEST_P(Loading, AnInitialiserCanOpenNothingButItsOwnFile) {
  CompiledCandidate candidate(R"(
    #include <cstdio>
    #include <fcntl.h>
    static const char* paths[] = {"/usr/lib/os-release", "/usr/bin/env", "/usr/lib", "/", "/tmp"};
    static int opened = [] { int n = 0; for (auto path : paths) n += open(path, O_RDONLY) >= 0; printf("%d", n); return n; }();
    extern "C" void kernel() {})",
                              {});
  ASSERT_EQ(load(candidate).head.type, KFORGE_DONE);
  EXPECT_EQ(runner_->finish().out, "0");
}

// A filter of its own could answer "installed" in place of the kernel when the runner closes the doors. What
// is left open then is worth nothing.
TEST_P(Loading, AForgedFilterInstallationGainsNothing) {
  CompiledCandidate candidate(R"(
    #include <cstddef>
    #include <cstdio>
    #include <fcntl.h>
    #include <linux/filter.h>
    #include <linux/seccomp.h>
    #include <sys/mman.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    static sock_filter code[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_seccomp},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | 0},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
    static sock_fprog program = {4, code};
    static long installed = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                    SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
    extern "C" void kernel() {
      int file = open("/usr/bin/env", O_RDONLY);
      long code = mprotect((void*)((long)&kernel & -4096), 4096, 7);
      printf("%ld %d %ld\n", installed, file, code);
    })",
                              {});
  ASSERT_EQ(load(candidate).head.type, KFORGE_DONE);
  runner_->call();
  EXPECT_EQ(runner_->finish().out, "0 -1 -1\n");
}

TEST_P(Loading, AThreadOfAnInitialiserIsConfinedToo) {
  CompiledCandidate candidate(R"(
    #include <atomic>
    #include <fcntl.h>
    #include <pthread.h>
    #include <unistd.h>
    static std::atomic<int> go{0}, result{7};
    static void* body(void*) { while (!go) usleep(100); result = open("/proc/self/maps", O_WRONLY); return nullptr; }
    static pthread_t thread = [] { pthread_t t; pthread_create(&t, nullptr, body, nullptr); return t; }();
    extern "C" void kernel(const float*, const float*, float* y) { go = 1; while (result == 7) usleep(100); y[0] = result; })",
                              {});
  ASSERT_EQ(load(candidate).head.type, KFORGE_DONE);
  Reply reply = runner_->call();
  ASSERT_EQ(reply.head.type, KFORGE_FAULT);
  EXPECT_EQ(syscall_name(reply.fault().syscall), "openat");
}

TEST_P(Loading, AnExecutableStackIsRefused) {
  std::string text = problem("extern \"C\" void kernel() {}", {"-Wl,-z,execstack"});
  EXPECT_THAT(text, HasSubstr("executable stack"));
}

}  // namespace
}  // namespace kforge
