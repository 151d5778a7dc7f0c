#include "generate/prompt.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"
#include "generate/prompt_facts.h"
#include "generate/prompt_file.h"
#include "generate/sample_attempt.h"
#include "task/scratch_task.h"

namespace kforge {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kToml = R"(name = "softmax"
description = "rows to probabilities"
notes = ["memory bound"]
[shapes]
bench = { B = 4096, D = 1024 }
small = { B = 4, D = 16 }
odd = { B = 3, D = 7 }
)";
constexpr std::string_view kGraph =
    "softmax (float[B, D] x) => (float[B, D] y)\n{\n  y = Softmax <axis = -1> (x)\n}\n";

// A whole setting with every block filled.
class PromptTest : public testing::Test {
 protected:
  PromptTest() : scratch_(kToml, kGraph), bound_(scratch_.bind("bench")), folder_(*TempDir::create()) {
    platform_.name = "toy";
    platform_.description = "a processor for tests";
    platform_.kind = PlatformKind::kNative;
    platform_.language = "C++20";
    platform_.files = {".cc", ".h"};
    platform_.folder = folder_.path();
    platform_.notes = "Vectors are eight wide.\n";
    fs::create_directory(folder_.path() / "example");
    EXPECT_TRUE(
        write_file_atomic(folder_.path() / "example" / "kernel.cc", "void kernel() {}  // an example\n"));
    EXPECT_TRUE(write_file_atomic(folder_.path() / "example" / "graph.onnx.txt",
                                  "copy (float[N] x) => (float[N] y) { y = Identity (x) }\n"));
    machine_.cpu_model = "Toy CPU";
    machine_.features = {"avx2", "fma"};
    machine_.caches = {{1, 32 << 10, 1}, {2, 1 << 20, 1}, {3, 32 << 20, 4}};
    machine_.cpus = {0, 1};
    peaks_.fp32_gflops = 200;
    peaks_.threads = 2;
    peaks_.bandwidths = {{"L2", 2 << 20, 300, 250}, {"memory", 0, 20, 18}};
    context_.task = &bound_;
    context_.platform = &platform_;
    context_.machine = &machine_;
    context_.peaks = &peaks_;
    context_.threads = 2;
    context_.precision_words = "what a straightforward fp32 program reaches; the default";
    context_.compiler_line = {"g++", "-O3", "-march=x86-64-v3"};
    context_.flag_set = "avx2";
    context_.baselines = {{"onednn", 3.1e6}, {"torch", 5e6}};
    context_.operator_times = {{"Softmax (y)", 3.1e6}};
    context_.operator_times_of = "onednn";
    context_.roofline_bound = "memory";
    context_.roofline_ns = 1.7e6;
    best_.number = 0;
    set_source(best_, "// plain\nextern \"C\" void kernel() {}\n");
    best_.generation->change = "plain loops | three passes";
    judged(best_, Outcome::kPassed).time_ns = 4.2e6;
    best_.judgement->speedup = Speedup{0.74, 0.73, 0.75, "onednn"};
    best_.decision->accepted = true;
    last_.number = 1;
    last_.proposal.parent = 0;
    last_.proposal.pass = Pass::kOptimization;
    set_source(last_, "// vectors ``` inside\nextern \"C\" void kernel() { q; }\n");
    last_.generation->change = "vector exp";
    judged(last_, Outcome::kCompileError).reason =
        "kernel.cc:2:26: error: 'q' was not declared in this scope\n";
    set_advice(last_, Advice{"compute", "expf", "write a vector exp", 2.5, 0.7, "vectorize", "rules"});
    plan_.attempt = 2;
    plan_.best = &best_;
    plan_.last = &last_;
    plan_.history = {&best_, &last_};
    plan_.advice = Advice{"scalar exp",
                          "libm calls take 80 % of samples",
                          "replace expf by a polynomial on vectors",
                          2.5,
                          0.8,
                          "vectorize",
                          "rules"};
    plan_.profile = "- vector_width_bits: 128\n";
    plan_.hot_loop = "```\nvaddps %ymm0,%ymm1,%ymm2\n```\n";
    plan_.reference = Candidate{{{"kernel.cl", "__kernel void softmax() {}\n"}}, ""};
    plan_.reference_platform = "opencl";
  }

  // Correct, and faster than the best by the median alone.
  static Attempt near_miss(int number) {
    Attempt near;
    near.number = number;
    near.proposal.parent = near.proposal.rival = 0;
    near.proposal.pass = Pass::kOptimization;
    set_source(near, "// nearly\nextern \"C\" void kernel() {}\n");
    near.generation->change = "two rows at once";
    judged(near, Outcome::kPassed);
    set_gain(near, 1.04, 0.99, 1.09);
    return near;
  }

  Prompt make(int shrink = 0) {
    auto prompt = make_prompt(plan_, context_, shrink);
    EXPECT_TRUE(prompt) << prompt.error().text();
    return prompt ? *prompt : Prompt{};
  }

  ScratchTask scratch_;
  BoundTask bound_;
  TempDir folder_;
  Platform platform_;
  Machine machine_;
  Peaks peaks_;
  AgentSetting context_;
  Attempt best_, last_;
  Plan plan_;
};

// The whole text as a model gets it. After a wanted change: KFORGE_UPDATE_GOLDEN=1 generate_test, then read
// the diff.
TEST_F(PromptTest, Golden) {
  Prompt prompt = make();
  std::string text = "=== system ===\n" + prompt.system + "=== turn ===\n" + prompt.turn;
  fs::path file = fs::path(KFORGE_SOURCE_DIR) / "tests/golden/generate_prompt.md";
  if (std::getenv("KFORGE_UPDATE_GOLDEN")) {
    ASSERT_TRUE(write_file_atomic(file, text));
  }
  auto golden = read_file(file);
  ASSERT_TRUE(golden) << golden.error().text();
  EXPECT_EQ(text, *golden) << "KFORGE_UPDATE_GOLDEN=1 writes the file anew";
}

TEST_F(PromptTest, TheSystemTextStaysTheSameDuringARun) {
  std::string before = make().system;
  plan_.attempt = 9;
  plan_.last = &best_;
  plan_.advice.reset();
  EXPECT_EQ(make().system, before);
}

TEST_F(PromptTest, EveryBlockCanBeSwitchedOff) {
  Attempt near = near_miss(1);
  last_.number = 2;
  plan_.history = {&best_, &near, &last_};
  plan_.pass = Pass::kOptimization;
  last_.judgement->tuning = "BM=64   1.2 ms\n";
  const std::pair<std::string, std::string> marks[] = {{"notes", "Vectors are eight wide."},
                                                       {"example", "// an example"},
                                                       {"machine", "Toy CPU"},
                                                       {"target", "baseline onednn"},
                                                       {"operators", "Softmax (y)"},
                                                       {"history", "plain loops / three passes"},
                                                       {"best", "// plain\n"},
                                                       {"runner_up", "// nearly\n"},
                                                       {"tuning", "BM=64 "},
                                                       {"feedback", "was not declared"},
                                                       {"advice", "replace expf by a polynomial"},
                                                       {"profile", "vector_width_bits"},
                                                       {"assembly", "vaddps"},
                                                       {"reference", "__kernel void softmax"}};
  EXPECT_EQ(std::size(marks), std::size(kPromptBlocks));
  for (const auto& [block, mark] : marks) {
    context_.without = {};
    Prompt with = make();
    EXPECT_THAT(with.system + with.turn, HasSubstr(mark)) << block;
    context_.without = {block};
    if (block == "feedback") context_.without.insert("history");  // the table has the first line of it
    ASSERT_TRUE(check_blocks(context_.without)) << block;
    Prompt without = make();
    EXPECT_THAT(without.system + without.turn, Not(HasSubstr(mark))) << block;
  }
  EXPECT_FALSE(check_blocks({"exampel"}));
  EXPECT_THAT(check_blocks({"exampel"}).error().message, HasSubstr("did you mean 'example'"));
}

TEST_F(PromptTest, ShrinkingLeavesLessAndLess) {
  auto size = [&](int shrink) {
    Prompt prompt = make(shrink);
    return prompt.system.size() + prompt.turn.size();
  };
  EXPECT_GT(size(0), size(1));
  EXPECT_GT(size(1), size(2));
  EXPECT_THAT(make(2).turn, HasSubstr("'q' was not declared"));
}

TEST_F(PromptTest, NothingIsEscapedAndQuotedTextStaysInItsFence) {
  Prompt prompt = make();
  EXPECT_THAT(prompt.turn,
              HasSubstr("````cpp\n// vectors ``` inside\nextern \"C\" void kernel() { q; }\n````\n"));
  EXPECT_THAT(prompt.turn, Not(HasSubstr("&quot;")));
}

TEST_F(PromptTest, TheBestIsShownOnceWhenItIsTheLast) {
  plan_.last = &best_;
  Prompt prompt = make();
  EXPECT_THAT(prompt.turn, HasSubstr("attempt 0, the best so far"));
  EXPECT_EQ(prompt.turn.find("// plain"), prompt.turn.rfind("// plain"));
}

// A row that looks faster and was not kept must say why, by the interval that decided.
TEST_F(PromptTest, TheHistorySaysWhyAnAttemptWasNotKept) {
  judged(last_, Outcome::kPassed);
  set_gain(last_, 1.34, 0.8, 2.2);
  EXPECT_THAT(make().turn, HasSubstr("1.34x its parent [0.8, 2.2], not kept: the interval holds 1"));
  set_gain(last_, 0.5, 0.4, 0.9);
  EXPECT_THAT(make().turn, HasSubstr("[0.4, 0.9], not kept: slower"));
  set_gain(last_, 1.5, 1.2, 1.9);
  last_.decision->accepted = true;
  EXPECT_THAT(make().turn, HasSubstr("[1.2, 1.9], kept as the best until a later one beat it"));
  plan_.best = &last_;
  EXPECT_THAT(make().turn, HasSubstr("[1.2, 1.9], the best so far"));
  EXPECT_THAT(make().turn, HasSubstr("not the times"));
}

// The model that wrote it has no memory: what looked faster is offered again once something later did worse.
TEST_F(PromptTest, TheRunnerUpIsOfferedAgainAfterAStepBack) {
  Attempt near = near_miss(1), worse = near_miss(2);
  set_source(worse, "// worse\n");
  worse.generation->change = "prefetch";
  set_gain(worse, 0.9, 0.85, 0.95);
  plan_.pass = Pass::kOptimization;
  plan_.last = &best_;
  plan_.history = {&best_, &near};
  EXPECT_THAT(make().turn, AllOf(HasSubstr("1.04x its parent [0.99, 1.09], not kept: the interval holds 1"),
                                 Not(HasSubstr("// nearly"))));
  plan_.history = {&best_, &near, &worse};
  EXPECT_THAT(make().turn, AllOf(HasSubstr("# Nearly: attempt 1 (two rows at once)"), HasSubstr("// nearly"),
                                 Not(HasSubstr("// worse"))));
  EXPECT_THAT(make(1).turn, Not(HasSubstr("// nearly"))) << "the first to go when the prompt is too long";
  near.generation->program->files[0].content += std::string(30'000, ' ');
  EXPECT_THAT(make().turn, Not(HasSubstr("# Nearly"))) << "too large to show";
}

TEST_F(PromptTest, NoRecommendationIsSpokenOfWhereNoneIsShown) {
  plan_.pass = Pass::kOptimization;
  EXPECT_THAT(make().turn,
              HasSubstr("by the one change recommended above. If the program does that already"));
  context_.without = {"advice"};
  EXPECT_THAT(make().turn, AllOf(Not(HasSubstr("recommended")), HasSubstr("the one you expect most of")));
}

TEST_F(PromptTest, TheProgramToGoOnFromIsNotCalledTheLast) {
  plan_.last = &best_;
  EXPECT_THAT(make().turn, HasSubstr("# The program to go on from: attempt 0, the best so far"));
}

TEST_F(PromptTest, ARooflineSlowerThanALibraryIsNotShown) {
  EXPECT_THAT(make().system, HasSubstr("- roofline: 1700 us"));
  context_.roofline_ns = 3.2e6;
  EXPECT_THAT(make().system, Not(HasSubstr("- roofline")));
}

TEST_F(PromptTest, TheTimeToBeatCarriesItsInterval) {
  context_.baselines = {{"onednn", 2.5e6, Interval{2.5e6, 2.4e6, 2.75e6}}, {"torch", 3e6}};
  EXPECT_THAT(make().system, HasSubstr("- baseline onednn: 2500 us [2400 us, 2750 us] (the fastest: speedups "
                                       "are against this)\n- baseline torch: 3000 us\n"));
}

TEST_F(PromptTest, NotesOfOtherMachinesAreLeftOut) {
  platform_.notes = "## Vectors\nall\n## AMX (machines with amx)\ntiles\n## Threads\nfew\n";
  EXPECT_THAT(make().system, AllOf(HasSubstr("all\n## Threads\nfew"), Not(HasSubstr("tiles"))));
  machine_.features.insert("amx");
  EXPECT_THAT(make().system, HasSubstr("tiles"));
}

TEST_F(PromptTest, AllowedFlagsAndCompilersAreListed) {
  platform_.build.allowed_flags = {"-O2", "-D*", "!-Dx"};
  platform_.build.compilers = {{"g++", {}, {}}, {"clang++-19", {}, {}}};
  EXPECT_THAT(make().system, HasSubstr("of these (`*` stands for anything): `-O2 -D*`, but not `-Dx`;"));
  EXPECT_THAT(make().system, HasSubstr("of `g++` `clang++-19`, where it is installed"));
}

TEST_F(PromptTest, ThePromiseAboveTheRooflineIsMarked) {
  plan_.advice->roofline_limit = 1.4;
  EXPECT_THAT(make().turn,
              HasSubstr("expected: 2.5 times faster (more than the 1.4 times that the roofline"));
}

TEST_F(PromptTest, AnInspirationIsNotCalledTheBest) {
  Attempt other = near_miss(7);
  plan_.inspiration = &other;
  EXPECT_THAT(make().turn, HasSubstr("# Another program whose ideas may be taken: attempt 7"));
  EXPECT_THAT(make().turn, HasSubstr("# The best program so far: attempt 0"));
}

TEST_F(PromptTest, PointsOfOtherMachinesAreLeftOut) {
  platform_.notes = "- (machines with avx2) Eight.\n- (machines with sve) Any\n  length.\n- All.\n";
  EXPECT_THAT(make().system, HasSubstr("- Eight.\n- All."));
}

TEST_F(PromptTest, NoRunsOfEmptyLines) {
  plan_ = Plan{};
  plan_.attempt = 1;
  Prompt prompt = make();
  EXPECT_TRUE(prompt.turn.starts_with("# Now: attempt 1")) << prompt.turn;
  EXPECT_THAT(prompt.system, Not(HasSubstr("\n\n\n")));
  // Headings stand apart from what is before them.
  for (std::size_t at = prompt.system.find("\n# "); at != std::string::npos;
       at = prompt.system.find("\n# ", at + 1))
    EXPECT_EQ(prompt.system[at - 1], '\n') << prompt.system.substr(at - 40, 80);
}

TEST(GraphDefaults, AreSpelledOutWhereAbsent) {
  auto defaults = [](const char* node) {
    auto graph = parse_graph_text(fmt::format("<ir_version: 8, opset_import: [\"\" : 17]> g (float[4, 8] x, "
                                              "float[8] s) => (float[4, 8] y) {{ {} }}",
                                              node),
                                  "g");
    EXPECT_TRUE(graph) << graph.error().text();
    return graph ? defaults_text(*graph) : "";
  };
  EXPECT_EQ(defaults("y = LayerNormalization <axis = -1> (x, s)"), "LayerNormalization: epsilon = 1e-5");
  EXPECT_EQ(defaults("y = LeakyRelu <alpha = 0.1> (x)"), "");
  EXPECT_EQ(defaults("z = LeakyRelu (x) y = LeakyRelu (z)"), "LeakyRelu: alpha = 0.01");
}

TEST_F(PromptTest, FirstTurnHasNothingToLookBackTo) {
  Plan first;
  auto prompt = make_prompt(first, context_);
  ASSERT_TRUE(prompt);
  EXPECT_THAT(prompt->turn, Not(HasSubstr("# The last program")));
  EXPECT_THAT(prompt->turn, Not(HasSubstr("What was tried")));
  EXPECT_THAT(prompt->turn, HasSubstr("Write the fastest version you are sure of"));
}

TEST_F(PromptTest, EditsAreOfferedForLongProgramsOnly) {
  EXPECT_THAT(make().turn, Not(HasSubstr("<<<<<<< SEARCH")));
  for (int i = 0; i < 500; ++i) last_.generation->program->files[0].content += "// line\n";
  EXPECT_THAT(make().turn, HasSubstr("````edit path=kernel.cc\n<<<<<<< SEARCH"));
}

TEST_F(PromptTest, OldAttemptsThatWereNotKeptAreLeftOut) {
  std::vector<Attempt> many(100);
  plan_.history = {&best_};
  for (int i = 0; i < 100; ++i) {
    Attempt& attempt = many[static_cast<std::size_t>(i)];
    attempt.number = i + 10;
    generated(attempt).change = "number_" + std::to_string(i) + "_";
    judged(attempt, Outcome::kTimeout);
    plan_.history.push_back(&attempt);
  }
  std::string turn = make().turn;
  EXPECT_THAT(turn, HasSubstr("plain loops"));  // kept: always shown
  EXPECT_THAT(turn, Not(HasSubstr("number_5_")));
  EXPECT_THAT(turn, HasSubstr("number_99_"));
  EXPECT_THAT(turn, HasSubstr("there are 101 in all"));
}

TEST_F(PromptTest, OtherKindsOfPlatformsHaveTheirOwnContract) {
  platform_.kind = PlatformKind::kDevice;
  platform_.files = {".cl"};
  Prompt prompt = make();
  EXPECT_THAT(prompt.system, HasSubstr("plan.json"));
  EXPECT_THAT(prompt.system, HasSubstr("````cl path=kernel.cl"));
  EXPECT_THAT(prompt.system, Not(HasSubstr("Include `task.h`")));
}

TEST_F(PromptTest, AnEmulatedMachineIsTheOneThatIsDescribed) {
  platform_.run.machine = "pdp11";
  platform_.run.features = {"eis"};
  platform_.model = CostModel{"3", {.name = "instructions"}};
  Prompt prompt = make();
  EXPECT_THAT(prompt.system, HasSubstr("pdp11, emulated"));
  EXPECT_THAT(prompt.system, HasSubstr("it executes: eis"));
  EXPECT_THAT(prompt.system, HasSubstr("ranked by the model `instructions` (version 3)"));
  EXPECT_THAT(prompt.system, Not(HasSubstr("L1 cache")));
}

TEST_F(PromptTest, AnEmulatedDeviceIsDescribedByItsChipAndInItsLanguage) {
  platform_.kind = PlatformKind::kDevice;
  platform_.language = "MSL 3";
  platform_.files = {".metal"};
  platform_.run.driver = DeviceDriver::kMetal;
  platform_.model =
      CostModel{"1", {.name = "simt"}, Chip{.name = "Imaginary 3", .units = 10, .shared_kb_per_block = 32}};
  Prompt prompt = make();
  EXPECT_THAT(prompt.system, HasSubstr("device: metal, emulated"));
  EXPECT_THAT(prompt.system, HasSubstr("Imaginary 3: 10 units"));
  EXPECT_THAT(prompt.system, HasSubstr("constants in namespace `task`"));
  EXPECT_THAT(prompt.system, HasSubstr("ranked by the cost model"));
  for (const char* host : {"C++", "omp_get_max_threads", "L1 cache", "measured bandwidth", "compiled with",
                           "timed, interleaved"})
    EXPECT_THAT(prompt.system, Not(HasSubstr(host)));
}

TEST(PromptFile, MissingFilesAreNamed) {
  auto none = render_prompt("no_such_prompt", {});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("no_such_prompt.mustache"));
}

TEST(TimeText, ThreeDigits) {
  EXPECT_EQ(time_text(812), "0.812 us");
  EXPECT_EQ(time_text(812'345), "812 us");
  EXPECT_EQ(time_text(3.1e6), "3100 us");
  EXPECT_EQ(time_text(31.4e6), "31.4 ms");
}

}  // namespace
}  // namespace kforge
