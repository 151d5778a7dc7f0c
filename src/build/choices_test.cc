#include "build/choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kforge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ChoicesTest : public testing::Test {
 protected:
  Platform platform_ = load_platform("cpu").value();
  Machine machine_;
  BuildOptions options_;
  Step<BuildChoices> choose_for(const std::string& source) {
    return choose(Candidate{{{"kernel.cc", source}}, ""}, platform_, machine_, options_);
  }
  std::string refusal(const std::string& source) {
    auto step = choose_for(source);
    if (!step) return "error: " + step.error().message;
    return step->has_value() ? "accepted" : reason_text(step->error());
  }
};

TEST_F(ChoicesTest, TheBestFlagSetTheMachineRuns) {
  EXPECT_EQ((*choose_for("")->operator->()).march.name, "portable");
  machine_.features = {"avx2", "fma", "f16c", "bmi2"};
  EXPECT_EQ((*choose_for("")->operator->()).march.name, "avx2");
  machine_.features.insert({"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"});
  EXPECT_EQ((*choose_for("")->operator->()).march.name, "avx512");
  options_.march = "avx2";
  EXPECT_EQ((*choose_for("")->operator->()).march.name, "avx2");
}

TEST_F(ChoicesTest, AFlagSetThatDoesNotFitIsAnErrorInWords) {
  options_.march = "amx";
  EXPECT_THAT(refusal(""), testing::AllOf(HasSubstr("error: "), HasSubstr("lacks"), HasSubstr(" amx")));
  options_.march = "avx";
  EXPECT_THAT(refusal(""), HasSubstr("no flag set 'avx'"));
}

TEST_F(ChoicesTest, FlagsOfTheCandidate) {
  auto step = choose_for(
      "// kforge: flags -funroll-loops -DBM=32\n// kforge: flags -ffast-math\n// kforge: general\n");
  ASSERT_TRUE(step && step->has_value());
  EXPECT_THAT((**step).flags, ElementsAre("-funroll-loops", "-DBM=32", "-ffast-math"));
  EXPECT_THAT(refusal("\n// kforge: flags -fplugin=x.so\n"),
              HasSubstr("kernel.cc:2: error: flag '-fplugin=x.so' is not among"));
  EXPECT_THAT(refusal("// kforge: flags -funrol-loops\n"), HasSubstr("did you mean '-funroll-loops'"));
  EXPECT_THAT(refusal("// kforge: flags -ldnnl\n"), HasSubstr("not among"));
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "// kforge: flags -O2\n";
  EXPECT_THAT(refusal(many), HasSubstr("64 flags"));
  EXPECT_THAT(refusal("// kforge: flags -D" + std::string(1000, 'x') + "\n"), HasSubstr("256 characters"));
  options_.allow_libraries = true;
  EXPECT_EQ(refusal("// kforge: flags -ldnnl\n"), "accepted");
}

TEST_F(ChoicesTest, UnknownDirectivesAndCompilers) {
  EXPECT_THAT(refusal("// kforge: flag -O2\n"),
              HasSubstr("unknown directive 'flag' (did you mean 'flags'?)"));
  EXPECT_THAT(refusal("// kforge: compiler /bin/sh\n"), HasSubstr("compiler '/bin/sh' is not allowed"));
  EXPECT_EQ(refusal("// kforge: compiler g++\n"), "accepted");
  platform_.build.compilers = {{"kforge-no-such-compiler", {}}};
  EXPECT_THAT(refusal(""), HasSubstr("error: no compiler kforge-no-such-compiler"));
}

}  // namespace
}  // namespace kforge
