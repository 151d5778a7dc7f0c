// The runner with honest candidates, and with ones that cannot be served.
#include "runner/runner_under_test.h"

#include <csignal>

namespace kforge {
namespace {

const char* const kAdd = R"(
extern "C" void kernel(const float* x, const float* w, float* y) {
  #pragma omp parallel for
  for (int i = 0; i < 16; ++i) y[i] = x[i] + w[i];
})";

const char* const kTrio = R"(
#include <cstdio>
#include <cstdlib>
extern "C" void* prepare(const float* w) { float* s = (float*)malloc(64); for (int i = 0; i < 16; ++i) s[i] = 2 * w[i]; return s; }
extern "C" void kernel_prepared(void* state, const float* x, float* y) { for (int i = 0; i < 16; ++i) y[i] = x[i] + ((float*)state)[i]; }
extern "C" void release(void* state) { free(state); puts("released"); }
extern "C" void kernel(const float*, const float*, float*) { abort(); }
)";

class Runner : public testing::TestWithParam<SandboxTier> {};
INSTANTIATE_TEST_SUITE_P(Tiers, Runner,
                         testing::Values(SandboxTier::kBubblewrap, SandboxTier::kLandlock,
                                         SandboxTier::kNone),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_P(Runner, ServesAKernelOnEverySlot) {
  static CompiledCandidate candidate(kAdd);
  RunnerUnderTest runner(candidate, GetParam());
  Reply loaded = runner.start();
  ASSERT_EQ(loaded.head.type, KFORGE_DONE) << loaded.payload;
  EXPECT_EQ(loaded.head.value, 0u);
  EXPECT_EQ(runner.prepare().head.type, KFORGE_DONE);
  for (std::uint32_t slot : {0, 1})
    runner.tensor(KFORGE_ARENA_INPUTS, slot)[3] = 10.0f + static_cast<float>(slot);
  runner.tensor(KFORGE_ARENA_PARAMS, 0)[3] = 0.5f;
  Reply done = runner.call({1, 0});
  ASSERT_EQ(done.head.type, KFORGE_DONE) << done.payload;
  EXPECT_GT(done.head.nanoseconds, 0u);
  EXPECT_EQ(runner.tensor(KFORGE_ARENA_OUTPUTS, 0)[3], 10.5f);
  EXPECT_EQ(runner.tensor(KFORGE_ARENA_OUTPUTS, 1)[3], 11.5f);
  SandboxExit exit = runner.finish();
  EXPECT_EQ(exit.exit_code, 0);
  EXPECT_EQ(exit.signal, 0);
  EXPECT_FALSE(exit.left_processes);
}

TEST_P(Runner, PrefersTheTrioAndReleasesItsState) {
  static CompiledCandidate candidate(kTrio);
  RunnerUnderTest runner(candidate, GetParam());
  Reply loaded = runner.start();
  ASSERT_EQ(loaded.head.type, KFORGE_DONE) << loaded.payload;
  EXPECT_EQ(loaded.head.value, KFORGE_HAS_PREPARE);
  EXPECT_EQ(runner.call().head.type, KFORGE_ERROR) << "not prepared yet";
  runner.tensor(KFORGE_ARENA_PARAMS, 0)[0] = 4;
  ASSERT_EQ(runner.prepare().head.type, KFORGE_DONE);
  ASSERT_EQ(runner.call().head.type, KFORGE_DONE);
  EXPECT_EQ(runner.tensor(KFORGE_ARENA_OUTPUTS, 0)[0], 8);
  runner.tensor(KFORGE_ARENA_PARAMS, 0)[0] = 5;
  ASSERT_EQ(runner.prepare().head.type, KFORGE_DONE);  // releases the first state
  ASSERT_EQ(runner.call().head.type, KFORGE_DONE);
  EXPECT_EQ(runner.tensor(KFORGE_ARENA_OUTPUTS, 0)[0], 10);
  EXPECT_EQ(runner.finish().out, "released\nreleased\n");
}

}  // namespace
}  // namespace kforge
