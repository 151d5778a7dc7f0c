// The profilers of platform cpu on real programs, inside the sandbox.
#include "profile/profile_candidate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/findings.h"
#include "task/scratch_task.h"

namespace kforge {
namespace {

using testing::HasSubstr;

constexpr std::string_view kToml =
    "description = \"t\"\n[shapes]\nbench = { N = 200000 }\nsmall = { N = 64 }\nodd = { N = 61 }\n";
constexpr std::string_view kGraph = "g (float[N] x) => (float[N] y) { z = Exp (x) y = Add (z, x) }";

// One thread each: on a busy machine the samples would find several waiting for each other instead of
// working.
const char* kScalar = R"(#include "task.h"
extern "C" void kernel(const float* x, float* y) {
#pragma omp parallel for num_threads(1)
  for (long i = 0; i < task::N; ++i)
    y[i] = expf(x[i]) + x[i];
}
)";
const char* kVector = R"(#include "task.h"
extern "C" void kernel(const float* __restrict x, float* __restrict y) {
  for (int again = 0; again < 20; ++again)
#pragma omp parallel for num_threads(1)
  for (long i = 0; i < task::N; ++i) {
    float v = x[i], p = 1 + v;
    for (int k = 2; k < 12; ++k) p = p * v + k;
    y[i] = p;
  }
}
)";

class ProfilersTest : public testing::Test {
 protected:
  ProfilersTest() : scratch_(kToml, kGraph), bound_(scratch_.bind("bench")) {
    platform_ = *load_platform("cpu");
    machine_ = *describe_machine();
    tier_ = *strongest_tier();
  }
  Profile profile(const std::string& source, std::set<std::string> also = {},
                  std::set<std::string> without = {}) {
    candidate_.files = {{"kernel.cc", source}};
    auto built = build_candidate(candidate_, platform_, bound_, machine_, {.tier = tier_});
    EXPECT_TRUE(built && built->has_value());
    build_ = **built;
    peaks_.fp32_gflops = 100;
    peaks_.bandwidths = {{"memory", 0, 10, 10}};
    ProfileInput input{.task = &bound_,
                       .platform = &platform_,
                       .machine = &machine_,
                       .peaks = &peaks_,
                       .candidate = &candidate_,
                       .build = &build_};
    input.tier = tier_;
    input.threads = machine_.threads();
    input.time_ns = 1e6;
    input.thread_use = 0.9;
    input.also = std::move(also);
    input.without = std::move(without);
    Profile found = profile_candidate(input);
    for (const std::string& line : found.absent) absent_ += line + "\n";
    return found;
  }
  double fact(const Profile& profile, std::string_view name) {
    const Fact* found = find_fact(profile, name);
    EXPECT_TRUE(found) << name << "\nabsent: " << absent_;
    return found ? found->value : -1;
  }

  ScratchTask scratch_;
  BoundTask bound_;
  Platform platform_;
  Machine machine_;
  Peaks peaks_;
  SandboxTier tier_;
  Candidate candidate_;
  Build build_;
  std::string absent_;
};

TEST_F(ProfilersTest, AScalarLoopWithLibraryCalls) {
  Profile found = profile(kScalar, {}, {"counters"});
  EXPECT_NEAR(fact(found, "roofline_fraction"), 0.16, 0.01);
  if (find_fact(found, "samples")) {  // a busy machine may leave too few
    EXPECT_GT(fact(found, "samples_libm"), 2);
  }
  EXPECT_GE(fact(found, "hot_loop_calls"), 1);
  EXPECT_LE(fact(found, "hot_loop_vector_bits"), 32);
  EXPECT_GE(fact(found, "missed_loops"), 1);
  std::string summary = profile_summary(found);
  EXPECT_THAT(summary, HasSubstr("kernel.cc:"));
  EXPECT_THAT(hot_loop_of(found), HasSubstr("call"));
}

TEST(ModelledTime, IsTheOneLineThatSaysSo) {
  EXPECT_EQ(*parse_modelled_ns("hello\nmodelled_ns 12.5\nbye\n"), 12.5);
  for (const char* bad :
       {"", "modelled_ns", "modelled_ns x", "modelled_ns -1", "modelled_ns 0", "modelled_ns 1e99",
        "modelled_ns 1\nmodelled_ns 2\n", "modelled_ns 1 2", " modelled_ns 1"})
    EXPECT_FALSE(parse_modelled_ns(bad)) << bad;
}

TEST_F(ProfilersTest, AVectorLoop) {
  Profile found = profile(kVector, {}, {"counters"});
  EXPECT_GE(fact(found, "hot_loop_vector_bits"), machine_.features.contains("avx512f") ? 512
                                                 : machine_.features.contains("avx2")  ? 256
                                                                                       : 128);
  EXPECT_GE(fact(found, "hot_loop_fma"), 5);
  EXPECT_EQ(fact(found, "hot_loop_calls"), 0);
  // A busy machine may leave too few samples; the choice must be the same without.
  if (find_fact(found, "hot_loop_share")) {
    EXPECT_GT(fact(found, "hot_loop_share"), 30);
  }
  Profile unsampled = profile(kVector, {}, {"counters", "samples"});
  EXPECT_EQ(fact(unsampled, "hot_loop_vector_bits"), fact(found, "hot_loop_vector_bits"));
  EXPECT_THAT(hot_loop_of(found), HasSubstr("kernel.cc:7"));
  if (absent_.find("mca:") == std::string::npos) {
    EXPECT_GT(fact(found, "mca_cycles_per_iteration"), 1);
  }
}

TEST_F(ProfilersTest, CountersOrTheWordThatThereAreNone) {
  Profile found = profile(kVector, {}, {"samples", "hot_loop", "mca", "remarks"});
  if (!find_fact(found, "instructions")) {
    EXPECT_THAT(absent_, HasSubstr("counters:"));
  }
}

TEST_F(ProfilersTest, CallgrindAndItsPicture) {
  Profile found = profile(kVector, {"callgrind", "picture"}, {"samples", "counters", "remarks"});
  if (absent_.find("callgrind:") != std::string::npos) GTEST_SKIP() << absent_;
  EXPECT_GT(fact(found, "simulated_instructions"), 1e5);
  EXPECT_LT(fact(found, "l1_miss_rate"), 100);
  EXPECT_THAT(profile_summary(found, 20'000), HasSubstr("of instructions"));
  if (absent_.find("picture:") != std::string::npos) GTEST_SKIP() << absent_;
  ASSERT_EQ(found.pictures.size(), 1u);
  EXPECT_GT(found.pictures[0].png.size(), 10'000u);
  if (const char* keep = std::getenv("KFORGE_KEEP_PICTURE")) {
    EXPECT_TRUE(write_file_atomic(keep, found.pictures[0].png));
  }
}

TEST_F(ProfilersTest, ProgramsThatMisbehaveLeaveAWord) {
  Profile crash =
      profile("#include \"task.h\"\nextern \"C\" void kernel(const float*, float*) { __builtin_trap(); }\n",
              {}, {"counters"});
  EXPECT_THAT(absent_, HasSubstr("samples: was ended by signal"));
  absent_.clear();
  platform_.profilers = {{.name = "slow",
                          .argv = {"${call}"},
                          .gives = "text",
                          .parser = "text",
                          .runs = "kernel",
                          .timeout_seconds = 1}};
  Profile endless = profile(
      "#include \"task.h\"\nextern \"C\" void kernel(const float*, float*) { for (volatile int i = 0;; ) "
      "(void)i; }\n");
  EXPECT_THAT(absent_, HasSubstr("slow: took longer than 1 s"));
}

TEST_F(ProfilersTest, ToolsAndParsersThatAreNotThere) {
  platform_.profilers = {
      {.name = "a", .argv = {"no-such-tool"}, .gives = "text", .parser = "text", .remedy = "install it"},
      {.name = "b", .gives = "text", .parser = "no_such_parser"},
      {.name = "c", .argv = {"cat", "${a}"}, .gives = "text", .parser = "text", .after = "a"}};
  profile(kVector);
  EXPECT_THAT(absent_, HasSubstr("a: no-such-tool is not installed (install it)"));
  EXPECT_THAT(absent_, HasSubstr("b: there is no parser 'no_such_parser'"));
  EXPECT_THAT(absent_, HasSubstr("c: needs what 'a' writes"));
}

TEST(Platforms, EveryParserThatAPlatformMayNameIsThere) {
  for (std::string_view name : kParserNames) EXPECT_TRUE(find_parser(name)) << name;
}

}  // namespace
}  // namespace kforge
