// `kforge platforms check`: passed, failed and missing are three different answers.
#include <gmock/gmock.h>

#include "judge/platform_check.h"
#include "judge/wrong_programs.h"
#include "platform/platform_case.h"

namespace kforge {
namespace {

using testing::HasSubstr;
using State = CheckRow::State;

class PlatformChecks : public testing::Test {
 protected:
  void SetUp() override { use_home_of_tests(); }

  // A copy of a shipped platform with one text of one file replaced.
  fs::path changed(const std::string& platform, const std::string& file, const std::string& from,
                   const std::string& to) {
    fs::path folder = dir_.path() / "changed";
    fs::copy(load_platform(platform)->folder, folder, fs::copy_options::recursive);
    std::string text = read_file(folder / file).value();
    EXPECT_NE(text.find(from), std::string::npos);
    text.replace(text.find(from), from.size(), to);
    std::ofstream(folder / file) << text;
    return folder;
  }
  Result<PlatformCheck> check(const std::string& platform) {
    SilentProgress progress;
    return check_platform({.platform = platform}, progress);
  }
  static std::string text_of(const PlatformCheck& check) { return to_markdown(check); }

  TempDir dir_ = TempDir::create(0755).value();
};

TEST_F(PlatformChecks, CpuPasses) {
  auto done = check("cpu");
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_GE(done->rows.size(), 15u);
  for (const CheckRow& row : done->rows) {
    // Beside eight busy processes a clock may be found wanting, and rightly: what it says is there all the
    // same.
    if (row.part == "clock")
      EXPECT_THAT(row.found, HasSubstr("times as long")) << row.name;
    else
      EXPECT_EQ(row.state, State::kPassed) << row.name << ": " << row.found;
  }
  EXPECT_THAT(text_of(*done), HasSubstr("| clock | twice |"));
  EXPECT_THAT(to_json(*done), HasSubstr("\"verdict\": "));
}

TEST_F(PlatformChecks, AnEmulatedPlatformIsCheckedByItsModel) {
  if (!probe_platform(*load_platform("arm64")).usable())
    GTEST_SKIP() << probe_platform(*load_platform("arm64")).reason;
  auto done = check("arm64");
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_TRUE(done->passed()) << text_of(*done);
  if (!done->device.emulated) GTEST_SKIP() << "this machine is one";
  EXPECT_THAT(text_of(*done),
              HasSubstr("| clock | clock | twice the work takes about twice the time | skipped |"));
  EXPECT_THAT(text_of(*done), HasSubstr("| model | twice |"));
}

TEST_F(PlatformChecks, AnExampleThatIsWrongFails) {
  auto done = check(changed("cpu", "example/kernel.cc", "1e-5f", "1e-1f").string());
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_FALSE(done->passed());
  ASSERT_EQ(done->rows.size(), 1u) << "nothing is made from an example that is wrong";
  EXPECT_THAT(done->rows[0].found, HasSubstr("wrong_value"));
}

TEST_F(PlatformChecks, ACompilerThatIsNotThereIsMissing) {
  fs::path folder = changed("cpu", "platform.toml", "name = \"g++\"", "name = \"no-such-compiler\"");
  auto done = check(folder.string());
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->readiness.state, Readiness::State::kMissing);
  EXPECT_TRUE(done->rows.empty());
  EXPECT_FALSE(done->passed());
  EXPECT_THAT(text_of(*done), HasSubstr("no-such-compiler"));
}

TEST_F(PlatformChecks, AFolderWithoutAnExampleSaysSo) {
  fs::path folder = changed("cpu", "platform.toml", "objective", "objective");
  fs::remove_all(folder / "example");
  auto done = check(folder.string());
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text(), HasSubstr("has no example"));
}

TEST_F(PlatformChecks, WrongProgramsAreNotMadeFromAnExampleWithPrepare) {
  const Task task = load_task("core/relu").value();
  const BoundTask bound = bind_task(task, "small").value();
  Candidate trio{{{"kernel.cc", "extern \"C\" void kernel_prepared(void*, const float*, float*) {}"}}, ""};
  EXPECT_THAT(wrong_programs(trio, bound).error().message, HasSubstr("kernel_prepared"));
  Candidate plain{{{"kernel.cc", "// kforge: flags -O2\nextern \"C\" void kernel(const float*, float*) {}"}},
                  ""};
  auto programs = wrong_programs(plain, bound);
  ASSERT_TRUE(programs) << programs.error().text();
  EXPECT_GE(programs->size(), 12u);
  for (const WrongProgram& program : *programs) {
    EXPECT_FALSE(program.what.empty()) << program.name;
    EXPECT_FALSE(program.expects(Outcome::kPassed, {})) << program.name;
    EXPECT_EQ(program.candidate.directives().size(), 1u) << program.name << ": compiled as the example is";
  }
}

}  // namespace
}  // namespace kforge
