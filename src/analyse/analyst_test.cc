#include "analyse/analyst.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyse/advice_json.h"
#include "generate/sample_attempt.h"
#include "llm/scripted_model.h"
#include "profile/profile_candidate.h"
#include "task/scratch_task.h"

namespace kforge {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kShapes =
    "description = \"t\"\n[shapes]\nbench = { N = 4000000 }\nsmall = { N = 8 }\nodd = { N = 7 }\n";

// A task on a machine of two threads, with facts that a test sets.
class AnalystTest : public testing::Test {
 protected:
  explicit AnalystTest(std::string_view graph = "g (float[N] x) => (float[N] y) { y = Relu (x) }",
                       std::string_view shapes = kShapes)
      : scratch_(shapes, graph), bound_(scratch_.bind("bench")) {
    machine_.features = {"avx2", "fma", "avx512f"};
    machine_.caches = {{1, 32 << 10, 1}, {2, 1 << 20, 1}, {3, 8 << 20, 2}};
    machine_.cpus = {0, 1};
    setting_.task = &bound_;
    setting_.machine = &machine_;
    setting_.threads = 2;
    program_.number = 4;
    judged(program_, Outcome::kPassed).time_ns = 2e6;
    set_source(program_, "extern \"C\" void kernel() {\n#pragma omp parallel for\n}\n");
    input_.setting = &setting_;
    input_.program = &program_;
    input_.profile = &profile_;
  }
  void stands(std::string bound, double fraction) {
    setting_.roofline_bound = std::move(bound);
    fact("roofline_fraction", fraction);
  }
  void fact(std::string name, double value) {
    profile_.facts.push_back({std::move(name), value, "", "test"});
  }
  Advice first() { return rule_advice(input_).front(); }
  bool gives(std::string_view tag) {
    for (const Advice& advice : rule_advice(input_))
      if (advice.tag == tag) return true;
    return false;
  }

  ScratchTask scratch_;
  BoundTask bound_;
  Machine machine_;
  AgentSetting setting_;
  Attempt program_;
  Profile profile_;
  AnalysisInput input_;
};

TEST_F(AnalystTest, WithNothingKnownThereIsStillAdvice) {
  AnalysisInput nothing;
  std::vector<Advice> advice = rule_advice(nothing);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_TRUE(is_advice_tag(advice[0].tag));
  EXPECT_LT(advice[0].confidence, 0.2);
}

TEST_F(AnalystTest, MemoryBoundWithOrdinaryStores) {
  stands("memory", 0.6);
  EXPECT_EQ(first().tag, "streaming_stores");
  EXPECT_LE(first().expected_gain, 1 / 0.6 + 1e-9);
  fact("hot_loop_streaming_stores", 2);
  EXPECT_FALSE(gives("streaming_stores"));
}

TEST_F(AnalystTest, OneThreadOfTwo) {
  stands("memory", 0.3);
  program_.generation->program->files[0].content = "void kernel() {}";
  fact("thread_use", 0.5);
  Advice advice = first();
  EXPECT_EQ(advice.tag, "parallelize");
  EXPECT_THAT(advice.evidence, HasSubstr("50 % of 2 threads"));
  EXPECT_LE(advice.expected_gain, 2);
}

// Both threads are at work, side by side: that they got a third of the processors is another process's doing.
TEST_F(AnalystTest, ABusyMachineIsNoLackOfThreads) {
  stands("memory", 0.3);
  fact("thread_use", 0.31);
  fact("threads_seen", 2);
  fact("samples_openmp", 46);
  profile_.facts.push_back({"thread_balance", 0.89, "", "test"});
  EXPECT_FALSE(gives("parallelize"));
  EXPECT_FALSE(gives("overhead"));
  EXPECT_THAT(profile_summary(profile_), HasSubstr("The machine was busy"));
  profile_.facts.back().value = 0.1;  // one of them does all the work
  EXPECT_EQ(first().tag, "parallelize");
  EXPECT_THAT(first().evidence, HasSubstr("one thread gets all"));
  EXPECT_THAT(profile_summary(profile_), Not(HasSubstr("busy")));
}

TEST_F(AnalystTest, WaitingInOneRegionThatWaitsOnceIsNotToBeJoined) {
  stands("memory", 0.3);
  fact("thread_use", 0.9);
  fact("samples_openmp", 46);
  EXPECT_FALSE(gives("overhead"));
  program_.generation->program->files[0].content += "#pragma omp parallel for\n";
  EXPECT_TRUE(gives("overhead"));
}

TEST_F(AnalystTest, AdviceThatFailedOnThisProgramIsNotGivenAgain) {
  stands("memory", 0.6);
  ASSERT_EQ(first().tag, "streaming_stores");
  Attempt tried;
  tried.number = 5, tried.proposal.parent = program_.number;
  set_advice(tried, first());
  judged(tried, Outcome::kPassed);
  set_gain(tried, 1.4, 0.9, 1.9);  // faster by the median, but not by the interval: it was not kept
  input_.history = {&program_, &tried};
  EXPECT_NE(first().tag, "streaming_stores");
  tried.proposal.parent = 2;  // on another program: it counts, but does not forbid
  EXPECT_EQ(first().tag, "streaming_stores");
  EXPECT_THAT(first().evidence, HasSubstr("tried once and helped never"));
}

// What another change brought or broke says nothing about the advice.
TEST_F(AnalystTest, AdviceThatWasNotFollowedIsGivenAgain) {
  stands("memory", 0.6);
  ASSERT_EQ(first().tag, "streaming_stores");
  Attempt other;
  other.number = 5, other.proposal.parent = program_.number;
  set_advice(other, first(), false);
  judged(other, Outcome::kPassed);
  set_gain(other, 0.9, 0.85, 0.95);
  input_.history = {&program_, &other};
  EXPECT_EQ(first().tag, "streaming_stores");
  EXPECT_THAT(first().evidence, Not(HasSubstr("helped never")));
}

// The agents work together: advice is of a kind that the generator can follow.
TEST_F(AnalystTest, OnlyWhatTheGeneratorCanDoIsAdvised) {
  stands("memory", 0.6);
  ASSERT_EQ(first().tag, "streaming_stores");
  input_.possible = {"tile", "streaming_stores"};
  EXPECT_EQ(first().tag, "streaming_stores");
  input_.possible = {"reorder", "pack"};
  EXPECT_EQ(first().tag, "pack") << "a kind of the list, even where no rule speaks for it";
  EXPECT_THAT(first().change, HasSubstr("\"pack\""));
}

TEST_F(AnalystTest, AProgramThatOnlyLostItsRaceIsMadeFasterNotMended) {
  stands("memory", 0.6);
  judged(program_, Outcome::kSlower);
  input_.possible = {"tile"};
  EXPECT_EQ(first().tag, "tile");
  judged(program_, Outcome::kWrongValue);
  EXPECT_THAT(first().bottleneck, HasSubstr("not correct yet"));
}

TEST_F(AnalystTest, ALoopAtItsLimitIsNotTheBottleneck) {
  stands("memory", 0.6);
  fact("hot_loop_streaming_stores", 2);
  fact("mca_throughput_cycles", 6);
  fact("mca_cycles_per_iteration", 6.05);
  EXPECT_EQ(first().tag, "algorithm");
  EXPECT_THAT(first().evidence, HasSubstr("6.05 cycles per iteration, its units need 6"));
}

TEST_F(AnalystTest, ScalarHotLoop) {
  stands("memory", 0.2);
  fact("hot_loop_vector_bits", 32);
  fact("hot_loop_fp", 4);
  profile_.texts.push_back(
      {"missed", "kernel.cc:3: not vectorized: complicated access pattern\nmore", "remarks"});
  Advice advice = first();
  EXPECT_EQ(advice.tag, "vectorize");
  EXPECT_THAT(advice.evidence, HasSubstr("complicated access pattern"));
}

TEST_F(AnalystTest, LibraryCalls) {
  stands("memory", 0.1);
  fact("samples_libm", 80);
  EXPECT_EQ(first().tag, "vectorize");
  EXPECT_NEAR(first().expected_gain, 3, 0.1);
}

TEST_F(AnalystTest, LatencySpillsGathersDivisionsOverhead) {
  stands("memory", 0.3);
  fact("mca_cycles_per_iteration", 4);
  fact("mca_throughput_cycles", 1);
  EXPECT_TRUE(gives("unroll"));
  fact("hot_loop_spills", 6);
  EXPECT_TRUE(gives("tile"));
  fact("hot_loop_gathers", 1);
  EXPECT_TRUE(gives("pack"));
  fact("hot_loop_divisions", 1);
  EXPECT_TRUE(gives("algorithm"));
  fact("samples_system", 30);
  EXPECT_TRUE(gives("overhead"));
}

TEST_F(AnalystTest, FalseSharingIsSeenInTheSource) {
  stands("memory", 0.3);
  program_.generation->program->files[0].content = "sums[omp_get_thread_num()] += x;";
  bool seen = false;
  for (const Advice& advice : rule_advice(input_)) seen |= advice.bottleneck == "false sharing";
  EXPECT_TRUE(seen);
}

TEST_F(AnalystTest, NearTheRooflineNothingGreatIsPromised) {
  stands("memory", 0.95);
  for (const Advice& advice : rule_advice(input_)) EXPECT_LT(advice.expected_gain, 1.2) << advice.bottleneck;
}

TEST_F(AnalystTest, WhatBroughtNothingIsNotAdvisedFirstAgain) {
  stands("memory", 0.3);
  fact("hot_loop_vector_bits", 32);
  fact("hot_loop_fp", 4);
  fact("thread_use", 0.5);
  std::string tag = first().tag;
  Attempt tried;
  set_advice(tried, first());
  judged(tried, Outcome::kPassed);
  set_gain(tried, 1, 0.9, 1.1);
  Attempt broken = tried;
  judged(broken, Outcome::kWrongValue).over_rival.reset();
  input_.history = {&tried, &broken};
  EXPECT_NE(first().tag, tag);
}

class ReductionTest : public AnalystTest {
 protected:
  ReductionTest() : AnalystTest("g (float[N] x) => (float[1] y) { y = ReduceSum (x) }") {}
};
TEST_F(ReductionTest, FewOutputs) {
  stands("memory", 0.3);
  EXPECT_TRUE(gives("split_reduction"));
}

class ProductTest : public AnalystTest {
 protected:
  ProductTest()
      : AnalystTest("g (float[M, K] a, float[K, M] b) => (float[M, M] y) { c = MatMul (a, b) y = Relu (c) }",
                    "description = \"t\"\n[shapes]\nbench = { M = 1024, K = 1024 }\nsmall = { M = 8, K = 8 "
                    "}\nodd = { M = 7, K = 5 }\n") {}
};

TEST_F(ProductTest, ComputeBoundWithFewMultiplyAddsPerLoad) {
  stands("compute", 0.2);
  fact("hot_loop_fma", 4);
  fact("hot_loop_loads", 8);
  EXPECT_EQ(first().tag, "tile");
  EXPECT_THAT(first().evidence, HasSubstr("8 loads for 4"));
}

TEST_F(ProductTest, ARegisterTileIsNotRecommendedToWhoHasOne) {
  stands("compute", 0.2);
  fact("hot_loop_fma", 48);
  fact("hot_loop_loads", 32);
  EXPECT_FALSE(gives("tile"));
  fact("hot_loop_spills", 20);
  EXPECT_EQ(first().tag, "tile");
  EXPECT_THAT(first().bottleneck, HasSubstr("registers"));
}

// Two operators, little arithmetic: fusing is the point, unless one loop does it all.
TEST_F(ProductTest, OneLoopIsFusedAlready) {
  stands("memory", 0.3);
  EXPECT_FALSE(gives("fuse"));
  program_.generation->program->files[0].content += "#pragma omp parallel for\n";
  bound_.cost.unfused_bytes = 4 * bound_.cost.compulsory_bytes;
  EXPECT_TRUE(gives("fuse"));
  program_.generation->program->files[0].content = "#pragma omp parallel\n#pragma omp for\n";
  EXPECT_FALSE(gives("fuse"));
}

TEST_F(ProductTest, PrecisionHeadRoomUnderThePolicyOnly) {
  stands("compute", 0.7);
  machine_.features.insert("avx512_bf16");
  EXPECT_FALSE(gives("precision"));  // fp32 policy without tiles: no gain to be had
  setting_.precision = "bf16", setting_.tolerance = 2e-2;
  EXPECT_TRUE(gives("precision"));
  machine_.features.insert("amx");
  EXPECT_EQ(first().tag, "precision");
  program_.generation->program->files[0].content += "_tile_dpbf16ps";
  EXPECT_FALSE(gives("precision"));
}

TEST_F(AnalystTest, DeviceProfilesComeAlone) {
  AnalysisInput alone;
  alone.profile = &profile_;
  fact("device_memory_throughput", 85);
  fact("device_compute_throughput", 20);
  EXPECT_EQ(rule_advice(alone).front().tag, "fuse");
  profile_.facts.clear();
  fact("device_memory_throughput", 20);
  fact("device_compute_throughput", 15);
  fact("device_occupancy", 12);
  EXPECT_EQ(rule_advice(alone).front().tag, "parallelize");
}

// What the emulator of devices counts, one mistake at a time.
TEST_F(AnalystTest, CountsOfADeviceLeadToTheirAdvice) {
  Platform platform;
  platform.kind = PlatformKind::kDevice;
  setting_.platform = &platform;
  auto advised = [&](std::vector<std::pair<const char*, double>> facts) {
    profile_.facts.clear();
    fact("device_occupancy", 100);
    fact("device_active_lanes", 100);
    fact("device_sector_use", 100);
    fact("device_sectors_per_request", 4);
    fact("device_memory_throughput", 50);
    fact("device_compute_throughput", 61);
    for (const auto& [name, value] : facts) fact(name, value);
    std::string all;
    for (const Advice& advice : rule_advice(input_)) all += advice.bottleneck + "; ";
    return all;
  };
  EXPECT_EQ(advised({}), "arithmetic units; ");
  EXPECT_THAT(advised({{"device_sector_use", 13}, {"device_sectors_per_request", 32}}),
              HasSubstr("not coalesced"));
  EXPECT_THAT(advised({{"device_bank_conflicts", 16}, {"device_shared_throughput", 80}}),
              HasSubstr("bank conflicts"));
  EXPECT_THAT(advised({{"device_bank_conflicts", 16}, {"device_shared_throughput", 1}}),
              Not(HasSubstr("bank conflicts")));
  EXPECT_THAT(advised({{"device_active_lanes", 50}}), HasSubstr("lanes that sit out"));
  EXPECT_THAT(advised({{"device_occupancy", 12}, {"device_latency_share", 90}}),
              HasSubstr("too few threads in flight"));
  EXPECT_THAT(advised({{"device_spill_bytes", 64}}), HasSubstr("spilled"));
  EXPECT_THAT(advised({{"device_barriers", 12}, {"device_latency_share", 90}}), HasSubstr("barriers"));
  // Nothing about a processor's loops, caches and OpenMP.
  fact("thread_use", 0.1);
  stands("memory", 0.05);
  for (const Advice& advice : rule_advice(input_))
    EXPECT_THAT(advice.change, Not(HasSubstr("omp"))) << advice.change;
}

TEST_F(AnalystTest, EveryRuleUsesAKnownTag) {
  stands("memory", 0.05);
  for (const char* name : {"hot_loop_fp", "samples_libm", "samples_openmp", "samples_system",
                           "hot_loop_gathers", "hot_loop_spills", "hot_loop_divisions", "l1_miss_rate",
                           "device_bank_conflicts", "device_copy_share", "device_launches"})
    fact(name, 40);
  fact("hot_loop_vector_bits", 128);
  fact("thread_use", 0.2);
  fact("thread_balance", 0.2);
  fact("ipc", 0.5);
  fact("device_kernel_us", 2);
  std::vector<Advice> all = rule_advice(input_);
  EXPECT_GT(all.size(), 8u);
  for (const Advice& advice : all) {
    EXPECT_TRUE(is_advice_tag(advice.tag)) << advice.tag;
    EXPECT_GE(advice.expected_gain, 1) << advice.bottleneck;
    EXPECT_GT(advice.confidence, 0) << advice.bottleneck;
    EXPECT_LE(advice.confidence, 1);
    EXPECT_FALSE(advice.change.empty());
    EXPECT_FALSE(advice.evidence.empty());
    EXPECT_EQ(advice.by, "rules");
  }
}

// --- the model
// ------------------------------------------------------------------------------------------------

const std::string kGood =
    R"({"bottleneck":"memory","evidence":"12 GB/s of 20","change":"stream the stores","expected_gain":1.3,"confidence":0.7,"tag":"streaming_stores"})";

TEST(AdviceJson, GoodReplies) {
  for (std::string reply : {kGood, "Sure!\n```json\n" + kGood + "\n```\n", "<think>{}</think>" + kGood,
                            "text before " + kGood + " text after"}) {
    auto advice = advice_from_reply(reply);
    ASSERT_TRUE(advice) << reply << advice.error();
    EXPECT_EQ(advice->tag, "streaming_stores");
    EXPECT_DOUBLE_EQ(advice->expected_gain, 1.3);
  }
  auto lax = advice_from_reply(
      R"({"bottleneck":"b","evidence":"e {not a brace}","change":"c","expected_gain":"2.5x","confidence":1,"tag":"Vectorise"})");
  ASSERT_TRUE(lax) << lax.error();
  EXPECT_EQ(lax->tag, "vectorize");
  EXPECT_DOUBLE_EQ(lax->expected_gain, 2.5);
}

TEST(AdviceJson, BadReplies) {
  auto changed = [](std::string from, std::string to) {
    std::string text = kGood;
    return text.replace(text.find(from), from.size(), to);
  };
  for (auto [reply, words] : std::vector<std::pair<std::string, std::string>>{
           {"no idea", "no JSON object"},
           {"{", "no JSON object"},
           {"{\"a\": }", "cannot be parsed"},
           {changed("1.3", "0.5"), "between 1"},
           {changed("1.3", "\"much\""), "not a number"},
           {changed("1.3", "1e999"), "parsed"},
           {changed("0.7", "7"), "between 0 and 1"},
           {changed("\"tag\"", "\"tagg\""), "'tag' is missing"},
           {changed("streaming_stores", "stream_stores"), "not in the list"},
           {changed("stream the stores", " "), "'change' is empty"},
           {"```json\n" + kGood + "\n```\n```json\n" + kGood + "\n```\n", "exactly one"},
           {std::string(100'000, '{') + std::string(100'000, '}'), "too deeply"},
           {std::string(2 << 20, 'x'), "longer"}}) {
    auto advice = advice_from_reply(reply);
    ASSERT_FALSE(advice) << reply.substr(0, 200);
    EXPECT_THAT(advice.error(), HasSubstr(words)) << reply.substr(0, 200);
  }
}

class ModelAnalystTest : public AnalystTest {
 protected:
  Analysis run(std::vector<ModelReply> replies, bool images = true) {
    model_.emplace(std::move(replies), images);
    ModelAnalyst analyst(*model_);
    auto analysis = analyst.analyse(input_, {});
    EXPECT_TRUE(analysis) << analysis.error().text();
    return analysis ? std::move(*analysis) : Analysis{};
  }
  std::optional<ScriptedModel> model_;
};

TEST_F(ModelAnalystTest, OneRecommendation) {
  profile_.pictures.push_back({"kcachegrind", "callgrind", "\x89PNG"});
  fact("l1_miss_rate", 12.5);
  Analysis analysis = run({ScriptedModel::says(kGood)});
  EXPECT_EQ(analysis.advice.by, "scripted");
  EXPECT_FALSE(analysis.advice.fallback);
  const ModelRequest& request = model_->requests[0];
  EXPECT_EQ(request.role, "analyst");
  ASSERT_EQ(request.messages[0].images.size(), 1u);
  EXPECT_EQ(request.messages[0].images[0].media_type, "image/png");
  EXPECT_THAT(request.messages[0].text, HasSubstr("l1_miss_rate"));
  EXPECT_THAT(request.messages[0].text, HasSubstr("omp parallel for"));
  EXPECT_THAT(request.system, HasSubstr("`split_reduction`"));
}

TEST_F(ModelAnalystTest, NoPicturesForModelsThatTakeNone) {
  profile_.pictures.push_back({"kcachegrind", "callgrind", "\x89PNG"});
  run({ScriptedModel::says(kGood)}, false);
  EXPECT_TRUE(model_->requests[0].messages[0].images.empty());
}

TEST_F(ModelAnalystTest, OneReaskThenTheRules) {
  Analysis repaired = run({ScriptedModel::says("I think you should tile."), ScriptedModel::says(kGood)});
  EXPECT_FALSE(repaired.advice.fallback);
  ASSERT_EQ(model_->requests[1].messages.size(), 3u);
  EXPECT_THAT(model_->requests[1].messages[2].text, HasSubstr("no JSON object"));
  EXPECT_EQ(model_->requests[1].ordinal, 1);
  stands("memory", 0.6);
  Analysis fallen = run({ScriptedModel::says("no"), ScriptedModel::says("never")});
  ASSERT_TRUE(fallen.advice.fallback);
  EXPECT_THAT(*fallen.advice.fallback,
              HasSubstr("scripted gave no usable recommendation: there is no JSON object"));
  EXPECT_EQ(fallen.advice.by, "rules");
  EXPECT_EQ(fallen.calls.size(), 2u);
}

TEST_F(ModelAnalystTest, PromisedAgainstMeasuredIsShown) {
  Attempt tried;
  tried.number = 2;
  set_advice(tried, Advice{.change = "unroll by 4", .expected_gain = 1.5, .tag = "unroll"});
  judged(tried, Outcome::kPassed);
  set_gain(tried, 0.98, 0.9, 1.02);
  Attempt other = tried;
  other.number = 3;
  other.generation->followed_advice = false;
  input_.history = {&tried, &other};
  run({ScriptedModel::says(kGood)});
  EXPECT_THAT(
      model_->requests[0].messages[0].text,
      HasSubstr("| 2 | unroll | unroll by 4 | 1.5x, confidence 0.5 | 0.98x [0.9, 1.02]: no gain shown |"));
  EXPECT_THAT(model_->requests[0].messages[0].text,
              HasSubstr("| 3 | unroll | unroll by 4 | 1.5x, confidence 0.5 | not followed |"));
  tried.generation->followed_advice.reset();
  other.generation->followed_advice = true;
  set_gain(other, 1.12, 1.05, 1.2);
  run({ScriptedModel::says(kGood)});
  EXPECT_THAT(model_->requests[0].messages[0].text, HasSubstr("| not known whether it was followed |"));
  EXPECT_THAT(model_->requests[0].messages[0].text, HasSubstr("| 1.12x [1.05, 1.2]: less than promised |"));
}

TEST_F(ModelAnalystTest, ThinkingThatFillsTheLimitGetsALargerOne) {
  auto thinking = [] { return ScriptedModel::says("", ReplyEnd::kTruncated); };
  Analysis analysis = run({thinking(), thinking(), ScriptedModel::says(kGood)});
  EXPECT_FALSE(analysis.advice.fallback);
  EXPECT_EQ(analysis.advice.by, "scripted");
  ASSERT_EQ(model_->requests.size(), 3u);
  EXPECT_EQ(model_->requests[0].max_output_tokens, ModelRequest().max_output_tokens) << "as the generator";
  EXPECT_EQ(model_->requests[2].max_output_tokens, 4 * ModelRequest().max_output_tokens);
  EXPECT_EQ(model_->requests[2].ordinal, 2) << "each call is remembered by itself";
  Analysis endless = run({thinking(), thinking(), thinking()});
  ASSERT_TRUE(endless.advice.fallback);
  EXPECT_THAT(*endless.advice.fallback, HasSubstr("length limit"));
}

TEST_F(ModelAnalystTest, AReplyCutInTheMiddleIsContinued) {
  Analysis analysis = run({ScriptedModel::says(kGood.substr(0, 70), ReplyEnd::kTruncated),
                           ScriptedModel::says(kGood.substr(70))});
  EXPECT_FALSE(analysis.advice.fallback);
  EXPECT_EQ(analysis.advice.change, "stream the stores");
}

TEST_F(ModelAnalystTest, SeesTheHotLoopTheMachineAndWhatTheRooflineLeaves) {
  Platform platform;
  platform.name = "toy";
  platform.notes =
      "## AMX (machines with amx)\nTiles.\n## All\n- (machines with sve) Predicates.\n- Vectors.\n";
  setting_.platform = &platform;
  setting_.roofline_bound = "memory";
  setting_.roofline_ns = 1e6;
  program_.judgement->roofline_fraction = 0.5;
  program_.judgement->speedup = Speedup{1.2, 1.1, 1.3, "onednn"};
  machine_.cpu_model = "Toy CPU";
  profile_.texts.push_back({std::string(kHotLoopTitle), "vaddps %ymm0,%ymm1,%ymm2\n", "hot_loop"});
  run({ScriptedModel::says(kGood)});
  const ModelRequest& request = model_->requests[0];
  EXPECT_THAT(request.messages[0].text, HasSubstr("vaddps"));
  EXPECT_THAT(request.messages[0].text, HasSubstr("[1.1, 1.3]"));
  EXPECT_THAT(request.messages[0].text, HasSubstr("50 % of the roofline (memory bound)"));
  EXPECT_THAT(request.messages[0].text, HasSubstr("at most 2x"));
  EXPECT_THAT(request.system, HasSubstr("Toy CPU"));
  EXPECT_THAT(request.system, HasSubstr("Vectors."));
  EXPECT_THAT(request.system, Not(HasSubstr("Tiles.")));
  EXPECT_THAT(request.system, Not(HasSubstr("Predicates.")));
}

TEST_F(ModelAnalystTest, TheBestProgramIsCalledThat) {
  program_.decision->accepted = true;
  input_.best = &program_;
  run({ScriptedModel::says(kGood)});
  EXPECT_THAT(model_->requests[0].messages[0].text, HasSubstr("the best so far"));
}

TEST_F(ModelAnalystTest, SiblingsAreAskedForDifferentChanges) {
  input_.siblings = 2;
  run({ScriptedModel::says(kGood)});
  std::string first = model_->requests[0].messages[0].text;
  input_.sibling = 1;
  run({ScriptedModel::says(kGood)});
  EXPECT_NE(model_->requests[0].messages[0].text, first);
  EXPECT_THAT(model_->requests[0].messages[0].text, HasSubstr("rank number 2"));
}

TEST_F(AnalystTest, SiblingsGetDifferentRules) {
  stands("memory", 0.3);
  fact("mca_cycles_per_iteration", 4);
  fact("mca_throughput_cycles", 1);
  fact("hot_loop_spills", 6);
  ASSERT_GE(rule_advice(input_).size(), 2u);
  input_.siblings = 2;
  std::string first = ranked_advice(input_).change;
  input_.sibling = 1;
  EXPECT_NE(ranked_advice(input_).change, first);
}

TEST_F(AnalystTest, APromiseAboveTheRooflineIsKnown) {
  Advice advice{.expected_gain = 3};
  EXPECT_FALSE(advice.above_roofline()) << "nothing is known";
  setting_.roofline_ns = 1e6;
  program_.judgement->roofline_fraction = 0.5;
  advice.roofline_limit = roofline_limit(&setting_, program_);
  ASSERT_TRUE(advice.roofline_limit);
  EXPECT_TRUE(advice.above_roofline());
  advice.expected_gain = 2;
  EXPECT_FALSE(advice.above_roofline());
  setting_.baselines = {{"onednn", 5e5}};
  EXPECT_FALSE(roofline_limit(&setting_, program_)) << "a library is faster than the bound";
}

TEST_F(ModelAnalystTest, WithoutProfile) {
  fact("l1_miss_rate", 12.5);
  setting_.without = {"profile"};
  run({ScriptedModel::says(kGood)});
  EXPECT_THAT(model_->requests[0].messages[0].text, Not(HasSubstr("l1_miss_rate")));
}

}  // namespace
}  // namespace kforge
