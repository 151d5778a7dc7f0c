// The built-in agents as a user meets them: graphs of several kernels from a model file, what an earlier run
// has learnt, an operator that cannot be written, algebra that is told, an interrupted run.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "cli/kforge_run.h"
#include "graph/graph.h"

namespace kforge {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// A small picture classifier: convolution, normalisation, pooling, a linear layer, softmax.
constexpr const char* kClassifier = R"(
<ir_version: 8, opset_import: ["" : 17]>
classifier (float[2, 3, 12, 12] x, float[8, 3, 3, 3] w, float[8] b, float[8] scale, float[8] shift, float[8] mean,
            float[8] variance, float[10, 288] fc, float[10] fb) => (float[2, 10] y) {
  c = Conv <pads = [1, 1, 1, 1]> (x, w, b)
  vpos = Abs (variance)
  n = BatchNormalization (c, scale, shift, mean, vpos)
  r = Relu (n)
  p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (r)
  f = Flatten (p)
  g = Gemm <transB = 1> (f, fc, fb)
  y = Softmax <axis = 1> (g)
}
)";

// A block of a transformer: norm, attention of two heads, residual, norm, two linear layers, residual.
constexpr const char* kBlock = R"(
<ir_version: 8, opset_import: ["" : 17, "kforge" : 1]>
block (float[2, 6, 16] x, float[16] g1, float[16] b1, float[16, 48] wqkv, float[16, 16] wo, float[16] g2, float[16] b2,
       float[16, 32] w1, float[32, 16] w2) => (float[2, 6, 16] y) {
  n1 = LayerNormalization <axis = -1> (x, g1, b1)
  qkv = MatMul (n1, wqkv)
  split = Constant <value = int64[5] {2, 6, 3, 2, 8}> ()
  five = Reshape (qkv, split)
  heads = Transpose <perm = [2, 0, 3, 1, 4]> (five)
  zero = Constant <value = int64 {0}> ()
  one = Constant <value = int64 {1}> ()
  two = Constant <value = int64 {2}> ()
  q = Gather <axis = 0> (heads, zero)
  k = Gather <axis = 0> (heads, one)
  v = Gather <axis = 0> (heads, two)
  kt = Transpose <perm = [0, 1, 3, 2]> (k)
  scores = MatMul (q, kt)
  scaling = Constant <value = float {0.35355339}> ()
  scaled = Mul (scores, scaling)
  weights = Softmax <axis = -1> (scaled)
  mixed = MatMul (weights, v)
  back = Transpose <perm = [0, 2, 1, 3]> (mixed)
  whole = Constant <value = int64[3] {2, 6, 16}> ()
  joined = Reshape (back, whole)
  projected = MatMul (joined, wo)
  h = Add (x, projected)
  n2 = LayerNormalization <axis = -1> (h, g2, b2)
  up = MatMul (n2, w1)
  a = kforge.Gelu (up)
  down = MatMul (a, w2)
  y = Add (h, down)
}
)";

class SmithForge : public testing::Test {
 protected:
  // The text as a binary model file, as an exporter leaves it.
  std::string model(const std::string& name, const char* text) {
    auto graph = parse_graph_text(text, name);
    EXPECT_TRUE(graph) << graph.error().text();
    auto bytes = to_onnx_model(*graph);
    EXPECT_TRUE(bytes) << bytes.error().text();
    const fs::path file = folder_.path() / (name + ".onnx");
    std::ofstream(file, std::ios::binary) << *bytes;
    return file;
  }
  std::vector<std::string> forge(const std::string& task, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {
        "forge",      task,
        "--baseline", "none",
        "--rounds",   "7",
        "--without",  "profile",
        "--out",      (folder_.path() / ("out" + (runs_ == 0 ? "" : std::to_string(runs_)))).string()};
    ++runs_;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  json forged(const std::vector<std::string>& words, const RunOptions& options = {}) {
    std::vector<std::string> all = words;
    all.push_back("--json");
    const Finished done = kforge_run(all, options);
    EXPECT_EQ(done.exit_code, 0) << done.out.substr(0, 2000) << done.err;
    return json::parse(done.out, nullptr, false);
  }

  TempDir folder_ = *TempDir::create();
  int runs_ = 0;  // each has a folder of its own
};

TEST_F(SmithForge, ClassifierFromAModelFile) {
  const json report = forged(forge(model("classifier", kClassifier), {"--attempts", "1"}));
  ASSERT_EQ(report["best"]["outcome"], "passed") << report.dump(1).substr(0, 3000);
  const std::string source = *read_file(report["kernel_path"].get<std::string>());
  EXPECT_THAT(source, HasSubstr("kernel"));
  // The whole graph was judged at once, by every kind of input.
  std::vector<std::string> gates;
  for (const json& gate : report["best"]["gates"]) gates.push_back(gate["name"]);
  EXPECT_THAT(gates, testing::Contains(HasSubstr("accuracy")));
}

TEST_F(SmithForge, ACheckEndsWithTheFirstProgramThatPassesAndTimesNothing) {
  const json report = forged({"forge", "core/relu", "--shapes", "odd", "--check", "--no-callers", "--out",
                              (folder_.path() / "out").string()});
  EXPECT_EQ(report["ended"], "verified");
  EXPECT_EQ(report["attempts"].size(), 1u);
  ASSERT_EQ(report["best"]["outcome"], "passed") << report.dump(1).substr(0, 3000);
  EXPECT_TRUE(report["best"]["time_ns"].is_null());
  EXPECT_TRUE(report["best"]["check_only"]);
  EXPECT_EQ(report["best"]["kernel"]["path"], report["kernel_path"]);
  EXPECT_TRUE(fs::exists(report["kernel_path"].get<std::string>()));
  const Finished refused = kforge_run({"forge", "core/relu", "--check", "--target", "2.0x"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--check times nothing"));
}

TEST_F(SmithForge, TransformerBlockFromAModelFile) {
  const json report = forged(forge(model("block", kBlock), {"--attempts", "2"}));
  ASSERT_EQ(report["best"]["outcome"], "passed") << report.dump(1).substr(0, 3000);
  EXPECT_TRUE(fs::exists(report["folder"].get<std::string>() + "/report.md"));
}

TEST_F(SmithForge, AnOperatorItCannotWriteIsNamedWithWhatToDo) {
  // How often the loop turns depends on data: its kernel cannot be written out.
  const std::string file = model("loop", R"(
<ir_version: 8, opset_import: ["" : 17]>
looped (float[4] x, int64 n) => (float[4] y) {
  yes = Constant <value = bool {1}> ()
  y = Loop (n, yes, x) <body = turn (int64 i, bool c, float[4] s) => (bool again, float[4] t) {
    again = Identity (c)
    t = Add (s, s)
  }>
}
)");
  const Finished done = kforge_run(forge(file));
  EXPECT_EQ(done.exit_code, 2) << done.out;
  EXPECT_THAT(done.err, HasSubstr("Loop"));
  EXPECT_THAT(done.err, HasSubstr("depends on data"));
  EXPECT_THAT(done.err, HasSubstr("--generator"));
}

// Different shapes of one bucket: what won on the first is the first guess on the second, and is checked
// anew.
TEST_F(SmithForge, WhatWonIsTheFirstGuessNextTime) {
  RunOptions options{.home = folder_.path() / "home"};
  fs::create_directories(options.home);
  std::error_code none;  // peaks need not be measured again
  fs::copy(shared_home() / "machine", options.home / "machine", fs::copy_options::recursive, none);
  auto norm = [&](const char* name, int rows, int columns) {
    return model(name, fmt::format(R"(
<ir_version: 8, opset_import: ["" : 17]>
norms (float[{0}, {1}] x) => (float[{0}, {1}] y) {{
  y = Softmax <axis = 1> (x)
}}
)",
                                   rows, columns)
                           .c_str());
  };
  const json first = forged(forge(norm("first", 40, 300), {"--attempts", "2"}), options);
  EXPECT_THAT(first["attempts"][0]["change"].get<std::string>(), HasSubstr("first design"));
  const json second = forged(forge(norm("second", 44, 310), {"--attempts", "1"}), options);
  EXPECT_THAT(second["attempts"][0]["change"].get<std::string>(), HasSubstr("won on this family before"));
  EXPECT_EQ(second["best"]["outcome"], "passed");
}

// Schedules are what the strategies search when the built-in generator writes.
TEST_F(SmithForge, EveryStrategySearchesSchedules) {
  for (const std::string strategy : {"best-of", "beam", "tree", "evolve"}) {
    const json report = forged(forge("softmax", {"--shapes", "small", "--attempts", "6", "--strategy",
                                                 strategy, "--width", "2", "--patience", "1000"}));
    ASSERT_EQ(report["best"]["outcome"], "passed") << strategy;
    EXPECT_EQ(report["strategy"], strategy);
    std::set<int> lanes;
    std::set<std::string> programs;
    for (const json& attempt : report["attempts"]) {
      lanes.insert(attempt["lane"].get<int>());
      programs.insert(attempt["kernel_hash"].get<std::string>());
    }
    EXPECT_EQ(lanes, (std::set<int>{0, 1})) << strategy;
    EXPECT_EQ(programs.size(), report["attempts"].size()) << strategy << ": none is tried twice";
    EXPECT_GE(programs.size(), 4u) << strategy << report["ended"];
    EXPECT_TRUE(report["notes"].empty()) << report["notes"].dump();
  }
}

TEST_F(SmithForge, AnOptionWithoutEffectIsNamed) {
  const json report = forged(forge(
      "relu", {"--shapes", "small", "--attempts", "1", "--width", "3", "--repairs", "9", "--target", "2x"}));
  const std::string notes = report["notes"].dump();
  EXPECT_THAT(notes, HasSubstr("--width has no effect: the strategy chain"));
  EXPECT_THAT(notes, HasSubstr("--repairs has no effect"));
  EXPECT_THAT(notes, HasSubstr("--target has no effect: without a baseline"));
  EXPECT_THAT(*read_file(folder_.path() / "out" / "report.md"), HasSubstr("--width has no effect"));
}

TEST_F(SmithForge, WhatIsGivenBesideResumeIsRefused) {
  const Finished done = kforge_run({"forge", "--resume", "last", "--attempts", "3"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("--attempts has no effect with --resume"));
}

TEST_F(SmithForge, LessArithmeticThanTheGraphIsToldEverywhere) {
  const auto words = forge("gemm_divide_sum_scaling", {"--shapes", "small", "--attempts", "1"});
  const json report = forged(words);
  EXPECT_THAT(report["best"]["flags"].dump(), HasSubstr("algebraic"));
  const std::string run = report["run"], result = report["best"]["id"];
  EXPECT_THAT(kforge_run({"show", run}).out, HasSubstr("algebraic"));
  EXPECT_THAT(kforge_run({"show", result, "--json"}).out, HasSubstr("algebraic"));
  const std::string source = *read_file(report["kernel_path"].get<std::string>());
  EXPECT_THAT(source, HasSubstr("// kforge: algebraic"));
  // A maximum of the features is no sum: nothing moves.
  const json plain = forged(forge("matmul_min_subtract", {"--shapes", "small", "--attempts", "1"}));
  EXPECT_THAT(plain["best"]["flags"].dump(), Not(HasSubstr("algebraic")));
}

TEST_F(SmithForge, InterruptedItStopsWithTheBestSoFarAndCanGoOn) {
  RunOptions options;
  const fs::path out = folder_.path() / "out";
  std::vector<std::string> words =
      forge("softmax", {"--shapes", "small", "--budget", "600s", "--patience", "100000"});
  words.insert(words.begin(), kProgram);
  const fs::path said = folder_.path() / "said";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::setenv("KFORGE_HOME", options.home.c_str(), 1);
    std::vector<char*> argv;
    std::string verbose = "-v";
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(verbose.data());
    argv.push_back(nullptr);
    if (!::freopen(said.c_str(), "w", stdout) || !::freopen(said.c_str(), "a", stderr)) ::_exit(99);
    ::execv(argv[0], argv.data());
    ::_exit(98);
  }
  // As soon as something was found.
  for (int i = 0; i < 1200; ++i) {
    auto text = read_file(said);
    if (text && text->find("best so far") != std::string::npos) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ASSERT_EQ(::kill(child, SIGINT), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  const std::string text = *read_file(said);
  EXPECT_EQ(WEXITSTATUS(status), 130) << text;
  EXPECT_THAT(text, HasSubstr("VERIFIED"));
  EXPECT_TRUE(fs::exists(out / "report.json"));
  const json report = json::parse(*read_file(out / "report.json"));
  EXPECT_EQ(report["ended"], "interrupted");
  const std::string run = report["run"];
  EXPECT_THAT(text, HasSubstr("kforge forge --resume " + run));
}

}  // namespace
}  // namespace kforge
