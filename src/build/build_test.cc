#include "build/build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "base/files.h"

namespace kforge {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kHeader =
    "#pragma once\nnamespace task { inline constexpr long N = 1000; }\n"
    "extern \"C\" void kernel(const float* x, float* y);\n";
constexpr const char* kGood =
    "#include \"task.h\"\n"
    "extern \"C\" void kernel(const float* x, float* y) {\n"
    "#pragma omp parallel for\n"
    "  for (long i = 0; i < task::N; ++i) y[i] = std::max(x[i], 0.01f * x[i]);\n"
    "}\n";

// One home for all tests of this program: the precompiled header is made once.
const fs::path& shared_home() {
  static TempDir home = TempDir::create().value();
  return home.path();
}

class BuildTest : public testing::Test {
 protected:
  BuildTest() {
    ::setenv("KFORGE_HOME", shared_home().c_str(), 1);
    machine_ = describe_machine().value();
    options_.tier = strongest_tier().value_or(SandboxTier::kNone);
    // The compiler then says when it finds a precompiled header that it cannot use.
    platform_.build.argv.insert(platform_.build.argv.begin() + 1, "-Winvalid-pch");
  }
  ~BuildTest() override { ::unsetenv("KFORGE_HOME"); }

  Step<Build> build(std::vector<SourceFile> files) {
    return build_with_header(Candidate{std::move(files), "test"}, platform_, kHeader, machine_, options_);
  }
  Step<Build> build(const std::string& source) { return build({{"kernel.cc", source}}); }
  std::string failure(std::vector<SourceFile> files) {
    auto step = build(std::move(files));
    if (!step) return "error: " + step.error().text();
    if (step->has_value()) return "built";
    return fmt::format("{}: {}", outcome_name(step->error()), reason_text(step->error()));
  }
  std::string failure(const std::string& source) { return failure({{"kernel.cc", source}}); }

  Platform platform_ = load_platform("cpu").value();
  Machine machine_;
  BuildOptions options_;
};

TEST_F(BuildTest, CompilesAndFindsItAgain) {
  auto first = build(kGood);
  ASSERT_TRUE(first) << first.error().text();
  ASSERT_TRUE(first->has_value()) << reason_text(first->error());
  const Build& made = **first;
  EXPECT_FALSE(made.from_cache);
  EXPECT_TRUE(fs::exists(made.artefact));
  EXPECT_THAT(made.exports, testing::Contains("kernel"));
  EXPECT_THAT(made.imports, testing::Contains("GOMP_parallel"));
  EXPECT_FALSE(check_symbols(made.symbols, platform_.allowed_imports, platform_.allowed_needed));
  EXPECT_EQ(made.log, "");
  EXPECT_THAT(made.command, testing::Contains("../src/kernel.cc"));

  auto start = std::chrono::steady_clock::now();
  auto second = build(kGood);
  double milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  ASSERT_TRUE(second && second->has_value());
  EXPECT_TRUE((**second).from_cache);
  EXPECT_EQ((**second).artefact_hash, made.artefact_hash);
  EXPECT_EQ((**second).exports, made.exports);
  fmt::print("compiler {:.0f} ms, found again in {:.2f} ms\n", 1e3 * made.seconds, milliseconds);

  options_.use_cache = false;
  auto third = build(kGood);
  ASSERT_TRUE(third && third->has_value());
  EXPECT_FALSE((**third).from_cache);
  EXPECT_EQ((**third).artefact_hash, made.artefact_hash) << "a build is not the same twice";
}

TEST_F(BuildTest, WhatMattersChangesTheKey) {
  auto build_of = [&](const std::string& source, const char* header) {
    return build_with_header(Candidate{{{"kernel.cc", source}}, ""}, platform_, header, machine_, options_)
        ->value();
  };
  std::string source = std::string(kGood) + "// key\n";
  EXPECT_FALSE(build_of(source, kHeader).from_cache);
  EXPECT_TRUE(build_of(source, kHeader).from_cache);
  EXPECT_FALSE(build_of(source + "\n", kHeader).from_cache);
  EXPECT_FALSE(build_of(source, (std::string(kHeader) + "// other\n").c_str()).from_cache);
  options_.march = "portable";
  platform_.build.precompiled = {"algorithm"};
  EXPECT_FALSE(build_of(source, kHeader).from_cache);
}

TEST_F(BuildTest, ADamagedCacheEntryIsMadeAgain) {
  std::string source = std::string(kGood) + "// damaged\n";
  Build made = build(source)->value();
  std::ofstream(made.artefact, std::ios::trunc) << "not a library";
  Build again = build(source)->value();
  EXPECT_FALSE(again.from_cache);
  EXPECT_EQ(again.artefact_hash, made.artefact_hash);
}

TEST_F(BuildTest, SeveralFilesAndFolders) {
  EXPECT_EQ(failure({{"kernel.cc",
                      "#include \"task.h\"\n#include \"tiles/a.h\"\nextern \"C\" void kernel(const float* x, "
                      "float* y) { y[0] = twice(x[0]) + other(); }\n"},
                     {"other.cc", "#include \"tiles/a.h\"\nfloat other() { return 1; }\n"},
                     {"tiles/a.h",
                      "#pragma once\nfloat other();\ninline float twice(float x) { return 2 * x; }\n"}}),
            "built");
  EXPECT_THAT(failure({{"../kernel.cc", "int x;"}}), HasSubstr("no_program"));
  EXPECT_THAT(failure({{"-o.cc", "int x;"}}), HasSubstr("no_program"));
  EXPECT_THAT(failure(std::vector<SourceFile>{}), HasSubstr("no_program"));
  // A candidate's own task.h does not replace KForge's.
  EXPECT_EQ(failure({{"kernel.cc", kGood}, {"task.h", "#error wrong header\n"}}), "built");
}

TEST_F(BuildTest, CompileErrorsComeWithLineAndCaret) {
  std::string text = failure(
      "#include \"task.h\"\nextern \"C\" void kernel(const float* x, float* y) {\n  y[0] = undeclared + "
      "x[0];\n}\n");
  EXPECT_THAT(text, HasSubstr("compile_error: kernel.cc:3:10: error: 'undeclared' was not declared"));
  EXPECT_THAT(text, HasSubstr("    3 |   y[0] = undeclared + x[0];"));
  EXPECT_THAT(text, HasSubstr("^~~~"));
  EXPECT_THAT(text, Not(HasSubstr("/tmp")));
  EXPECT_THAT(text, Not(HasSubstr("../src")));
  EXPECT_THAT(failure("#include \"task.h\"\nvoid helper();\nextern \"C\" void kernel(const float*, float*) { "
                      "helper(); }\n"),
              HasSubstr("undefined reference to `helper()'"));
}

TEST_F(BuildTest, WarningsAreKeptWithTheResult) {
  auto step = build(
      "#include \"task.h\"\nextern \"C\" void kernel(const float* x, float* y) { int unused; y[0] = x[0]; "
      "}\n");
  ASSERT_TRUE(step && step->has_value());
  EXPECT_THAT((**step).log, HasSubstr("unused variable"));
}

TEST_F(BuildTest, AProgramWithoutItsFunction) {
  EXPECT_THAT(failure("int x;\n"), HasSubstr("no function kernel"));
  EXPECT_THAT(failure("void kernel(const float* x, float* y) { y[0] = x[0]; }\n"), HasSubstr("extern \"C\""));
  EXPECT_THAT(failure("static void kernel(const float* x, float* y) { y[0] = x[0]; }\n"),
              HasSubstr("static"));
  EXPECT_THAT(failure("extern \"C\" void* prepare() { return 0; }\n"), HasSubstr("kernel_prepared is not"));
  EXPECT_EQ(failure("extern \"C\" void* prepare() { return 0; }\nextern \"C\" void kernel_prepared(void*, "
                    "const float*, float*) {}\n"
                    "extern \"C\" void release(void*) {}\n"),
            "built");
}

// Files of this machine cannot get into a program, whichever way it asks.
TEST_F(BuildTest, OtherFilesOfTheMachineAreOutOfReach) {
  TempDir outside = TempDir::create(0755).value();
  fs::path secret = outside.path() / "secret.h";
  std::ofstream(secret) << "\"the-secret-text\"\n";
  for (SandboxTier tier : {SandboxTier::kBubblewrap, SandboxTier::kLandlock}) {
    if (tier_unavailable(tier)) continue;
    options_.tier = tier;
    for (const std::string& source : {
             fmt::format("#include \"{}\"\n", secret.string()),
             fmt::format("#include <{}>\n", secret.string()),
             std::string("#include \"/etc/passwd\"\n"),
             std::string("#include \"../../../etc/passwd\"\n"),
             fmt::format("asm(\".incbin \\\"{}\\\"\");\n", secret.string()),
             fmt::format("asm(\".include \\\"{}\\\"\");\n", secret.string()),
         }) {
      std::string text = failure(source + kGood);
      EXPECT_THAT(text, HasSubstr("compile_error")) << source;
      EXPECT_THAT(text, Not(HasSubstr("the-secret-text"))) << source;
      EXPECT_THAT(text, Not(HasSubstr("root:"))) << source;
      EXPECT_THAT(text, HasSubstr("nothing else of this machine")) << source;
    }
  }
}

TEST_F(BuildTest, CompilerBombs) {
  platform_.build.timeout_seconds = 4;
  auto start = std::chrono::steady_clock::now();
  std::string text = failure(
      "template <int A, int B> struct Slow { static constexpr long value = Slow<A - 1, B>::value + Slow<A - "
      "1, B + 1>::value; };\n"
      "template <int B> struct Slow<0, B> { static constexpr long value = B; };\n"
      "long x = Slow<890, 0>::value;\n");
  EXPECT_THAT(text, testing::AnyOf(HasSubstr("timeout: compile did not finish within 4 s"),
                                   HasSubstr("compile_error")));
  // An array of gigabytes in the file, and memory beyond the limit.
  text = failure("char big[3000000000] = {1};\n");
  EXPECT_THAT(text, testing::AnyOf(HasSubstr("larger than"), HasSubstr("memory"), HasSubstr("timeout")))
      << text;
  // Endless inclusion of itself.
  text = failure("#include \"kernel.cc\"\n#include \"kernel.cc\"\n");
  EXPECT_THAT(text, HasSubstr("compile_error"));
  EXPECT_LT(text.size(), 8000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(150));
}

TEST_F(BuildTest, NothingIsLeftBehind) {
  auto count = [] {
    std::size_t folders = 0;
    for (const auto& entry : fs::directory_iterator(fs::temp_directory_path()))
      folders += entry.path().filename().string().starts_with("kforge-") && fs::exists(entry.path() / "src");
    return folders;
  };
  std::size_t before = count();
  (void)failure("#error no\n");
  (void)failure(std::string(kGood) + "// left\n");
  EXPECT_LE(count(), before + 2);  // other tests may build at the same moment
}

TEST_F(BuildTest, ThePrecompiledHeaderIsReallyUsed) {
  auto step = build(kGood);
  ASSERT_TRUE(step && step->has_value());
  EXPECT_EQ((**step).log, "");
  std::size_t found = 0;
  for (const auto& entry : fs::recursive_directory_iterator(shared_home() / "pch"))
    found += entry.is_regular_file() && entry.file_size() > 1'000'000;
  EXPECT_GE(found, 1u);
}

TEST_F(BuildTest, OwnFlagsAndThePreludeWithThem) {
  // The same flags twice: the first build reads the prelude as text, the second through its own precompiled
  // header.
  platform_.build.precompiled = {"cmath"};
  std::string flags = "// kforge: flags -funroll-loops -DSCALE=2.0f\n";
  std::string body =
      "extern \"C\" void kernel(const float* x, float* y) { for (long i = 0; i < task::N; ++i) y[i] = "
      "std::exp(x[i]) * SCALE; }\n";
  EXPECT_EQ(failure(flags + "#include \"task.h\"\n" + body), "built");
  EXPECT_EQ(failure(flags + "#include \"task.h\"\n\n" + body), "built");
}

TEST_F(BuildTest, TheExampleOfThePlatformBuildsForEveryFlagSet) {
  auto candidate = read_candidate(platform_.folder / "example/kernel.cc", platform_.files);
  ASSERT_TRUE(candidate && candidate->has_value());
  // Flags used for the first time: no precompiled header is made for each flag set, which would take longer.
  (**candidate).files[0].content += "// kforge: flags -fwrapv\n";
  platform_.build.precompiled = {"immintrin.h", "cmath", "cstdint"};
  const char* header =
      "namespace task { inline constexpr long B = 64, D = 100; }\n"
      "extern \"C\" void kernel(const float* x, const float* weight, float* y);\n";
  for (const FlagSet& set : platform_.build.march) {
    // Compiling needs the compiler only, so that flag sets this machine cannot run are compiled too.
    machine_.features.insert(set.needs.begin(), set.needs.end());
    options_.march = set.name;
    auto step = build_with_header(**candidate, platform_, header, machine_, options_);
    ASSERT_TRUE(step) << step.error().text();
    ASSERT_TRUE(step->has_value()) << set.name << ": " << reason_text(step->error());
    EXPECT_EQ((**step).log, "") << set.name;
    EXPECT_FALSE(check_symbols((**step).symbols, platform_.allowed_imports, platform_.allowed_needed));
  }
}

}  // namespace
}  // namespace kforge
