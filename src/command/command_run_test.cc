// Real processes: shell scripts in the place of a platform's runner.
#include "command/command_run.h"

#include <gmock/gmock.h>

#include "base/files.h"

namespace kforge {
namespace {

using testing::HasSubstr;

class CommandRuns : public testing::Test {
 protected:
  // A task with one input of two floats and one output of the same size; `script` is the whole program.
  CommandRun run_of(const std::string& script) {
    CommandPackage package;
    package.argv = {"/bin/bash", "${program}"};
    package.program = "program/kernel.sh";
    package.files = {{package.program, script, false}, {"platform/help.sh", "# help\n", true}};
    package.tensors = {{"x", DType::kFloat32, {2}, false, true, false},
                       {"y", DType::kFloat32, {2}, false, false, true}};
    package.symbols = {{"B", 2}, {"TILE", 8}};
    return CommandRun(
        package,
        [this](std::size_t tensor, std::uint32_t slot) {
          return std::as_writable_bytes(std::span(tensor == 0 ? x_[slot] : y_[slot]));
        },
        folder_.path());
  }
  // What became of a run of two calls: "" where all went well.
  std::string outcome(const std::string& script) {
    CommandRun run = run_of(script);
    const std::uint32_t slots[] = {1, 0};
    EXPECT_TRUE(run.stage(slots));
    auto ran = run.run();
    EXPECT_TRUE(ran) << ran.error().message;
    if (!*ran) return fmt::format("{}: {}", static_cast<int>(ran->error().kind), ran->error().text);
    auto collected = run.collect(slots);
    EXPECT_TRUE(collected) << collected.error().message;
    if (!*collected)
      return fmt::format("{}: {}", static_cast<int>(collected->error().kind), collected->error().text);
    stated_ = **collected;
    return "";
  }

  TempDir folder_ = TempDir::create().value();
  float x_[2][2] = {{1, 2}, {3, 4}}, y_[2][2] = {};
  double stated_ = 0;
};

// Copies its input to its output: the same header, with another name and 64 bytes of padding less.
constexpr const char* kCopy = R"(
set -e
while [ $# -gt 0 ]; do case $1 in --inputs) in=$2;; --outputs) out=$2;; --calls) calls=$2;; esac; shift 2; done
[ "$calls" = 2 ]
echo call_ns 250
h='{"y": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}'
{ printf "\\x$(printf %x ${#h})\0\0\0\0\0\0\0"; printf %s "$h"; tail -c 16 "$in"; } >"$out"
)";

TEST_F(CommandRuns, InputsOfEveryCallGoInAndOutputsComeBack) {
  EXPECT_EQ(outcome(kCopy), "");
  EXPECT_EQ(y_[1][0], 3) << "the first call was that of slot 1";
  EXPECT_EQ(y_[0][1], 2);
  EXPECT_EQ(stated_, 250);
  // The runner learns names, order, shapes and symbols from the inputs file.
  EXPECT_EQ(
      outcome(std::string("grep -qa '\"arguments\":\"x y\"' /proc/self/fd/4 || exit 3\n"
                          "grep -qa '\"y\":{\"data_offsets\":.*\"shape\":.2,2' /proc/self/fd/5 || exit 4\n"
                          "grep -qa 'B=2 TILE=8' /proc/self/fd/4 || exit 5\n"
                          "[ -r ${0%/*}/../platform/help.sh ] || exit 6\n") +
              kCopy),
      "");
}

TEST_F(CommandRuns, FailuresAreToldByKind) {
  EXPECT_THAT(outcome("echo no such thing >&2; exit 3"), HasSubstr("1: it ended with code 3\nno such thing"));
  EXPECT_THAT(outcome("kill -SEGV $$"), HasSubstr("1: SIGSEGV"));
  EXPECT_THAT(outcome("head -c 100000000 /dev/zero >/proc/self/fd/5"), HasSubstr("1: "));
  EXPECT_THAT(outcome(": >/proc/self/fd/5"), HasSubstr("2: the outputs file is empty"));
  EXPECT_THAT(outcome("echo 123456789 >/proc/self/fd/5"),
              HasSubstr("2: the outputs file is no safetensors file"));
  auto header = [](const std::string& text) {
    return "h='" + text +
           "'; { printf \"\\\\x$(printf %x ${#h})\\0\\0\\0\\0\\0\\0\\0\"; printf '%s1234567890123456' "
           "\"$h\"; } >/proc/self/fd/5";
  };
  EXPECT_THAT(outcome(header(R"({"z": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}})")),
              HasSubstr("2: output y is not in the outputs file"));
  EXPECT_THAT(outcome(header(R"({"y": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}})")),
              HasSubstr("2: output y is F32 [4], and should be F32 [2, 2]"));
  EXPECT_THAT(outcome(header(R"({"y": {"dtype": "I32", "shape": [2, 2], "data_offsets": [0, 16]}})")),
              HasSubstr("2: output y is I32"));
}

TEST_F(CommandRuns, NothingOutlivesARunNeitherProcessesNorFiles) {
  EXPECT_THAT(outcome("(sleep 100 &)"), HasSubstr("3: processes of the program went on running"));
  EXPECT_THAT(outcome("(setsid sleep 100 &)"), HasSubstr("3: "));
  EXPECT_THAT(
      outcome("mkdir deep; echo 1 >deep/kept; chmod 0 deep; echo 2 >${0%/*}/kept 2>/dev/null; exit 7"),
      HasSubstr("code 7"));
  EXPECT_EQ(outcome(std::string("[ -e deep ] && exit 8; [ -e ${0%/*}/kept ] && exit 9\n") + kCopy), "");
}

TEST_F(CommandRuns, OutputsThatAreLeftAloneKeepWhatTheParentPutThere) {
  y_[0][0] = 17;
  EXPECT_EQ(outcome("exit 0"), "");
  EXPECT_EQ(y_[0][0], 17);
}

TEST_F(CommandRuns, InputsCannotBeWritten) {
  EXPECT_THAT(outcome("echo 1 >/proc/self/fd/4 || exit 5"), HasSubstr("code 5"));
}

TEST_F(CommandRuns, ARunMustBeStaged) { EXPECT_FALSE(run_of("exit 0").run()); }

}  // namespace
}  // namespace kforge
