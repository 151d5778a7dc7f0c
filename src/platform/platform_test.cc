#include "platform/platform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/files.h"
#include "platform/glob.h"

namespace kforge {
namespace {

using testing::HasSubstr;

constexpr const char* kSmallest = R"(description = "d"
kind = "native"
language = "C"
files = [".c"]
[build]
argv = ["${compiler}", "${source}", "-o", "${output}"]
[[build.compiler]]
name = "cc"
[run]
driver = "native"
)";

class PlatformTest : public testing::Test {
 protected:
  TempDir dir_ = TempDir::create().value();
  Result<Platform> load(const std::string& toml) {
    std::ofstream(dir_.path() / "platform.toml") << toml;
    return load_platform(dir_.path().string());
  }
  std::string error(const std::string& toml) {
    auto platform = load(toml);
    return platform ? "loaded" : platform.error().message;
  }
};

TEST(CpuPlatform, IsWholeAndReady) {
  auto platform = load_platform("cpu");
  ASSERT_TRUE(platform) << platform.error().text();
  EXPECT_EQ(platform->name, "cpu");
  EXPECT_EQ(platform->kind, "native");
  EXPECT_EQ(platform->build.compilers[0].name, "g++");
  EXPECT_EQ(platform->build.march.back().name, "portable");
  EXPECT_TRUE(platform->build.march.back().needs.empty());
  EXPECT_FALSE(platform->notes.empty());
  EXPECT_TRUE(fs::exists(platform->folder / "example/kernel.cc"));
  Readiness readiness = probe_platform(*platform);
  EXPECT_TRUE(readiness.ready);
  EXPECT_THAT(readiness.reason, HasSubstr("g++"));
}

TEST(CpuPlatform, ImportsAllowKernelsAndNothingElse) {
  std::vector<std::string> imports = load_platform("cpu").value().allowed_imports;
  for (const char* name :
       {"expf",
        "memcpy",
        "GOMP_parallel",
        "omp_get_max_threads",
        "_Znwm",
        "_ZdlPvm",
        "__cxa_atexit",
        "pthread_create",
        "_ZSt20__throw_length_errorPKc",
        "_ZGVdN8v_expf",
        "aligned_alloc",
        "mmap",
        "__tls_get_addr",
        "abort",
        "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
        "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE",
        "__stack_chk_fail",
        "__divti3",
        "printf",
        "syscall",
        "nanosleep",
        "__once_proxy"})
    EXPECT_TRUE(listed(imports, name)) << name;
  for (const char* name : {"dlopen",
                           "dlsym",
                           "open",
                           "open64",
                           "read",
                           "write",
                           "fopen",
                           "fopen64",
                           "clock_gettime",
                           "time",
                           "gettimeofday",
                           "omp_get_wtime",
                           "mprotect",
                           "fork",
                           "execve",
                           "system",
                           "ptrace",
                           "signal",
                           "sigaction",
                           "exit",
                           "_exit",
                           "getenv",
                           "socket",
                           "pthread_kill",
                           "_ZNSt6chrono3_V212steady_clock3nowEv",
                           "prctl",
                           "environ",
                           "getauxval",
                           "kill",
                           "dl_iterate_phdr",
                           "process_vm_writev",
                           "_ZNSt13basic_filebufIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode"})
    EXPECT_FALSE(listed(imports, name)) << name;
}

TEST(CpuPlatform, FlagsAllowTuningAndNothingElse) {
  std::vector<std::string> flags = load_platform("cpu").value().build.allowed_flags;
  for (const char* flag :
       {"-O2", "-ffast-math", "-funroll-loops", "-DBM=64", "--param=max-unroll-times=8", "-Wno-unused"})
    EXPECT_TRUE(listed(flags, flag)) << flag;
  for (const char* flag : {"-fplugin=x.so",
                           "-B.",
                           "-specs=x",
                           "-Wl,-rpath,/x",
                           "-Wa,-x",
                           "-wrapper",
                           "-o",
                           "x.cc",
                           "@file",
                           "-I/etc",
                           "-include",
                           "-x",
                           "-L.",
                           "-lcurl",
                           "-save-temps",
                           "-fdump-tree-all",
                           "-Wno-x,y",
                           "-fprofile-use=/x",
                           "-fuse-ld=x",
                           "-isystem"})
    EXPECT_FALSE(listed(flags, flag)) << flag;
}

TEST(Platforms, AllOfThemLoad) {
  auto platforms = load_all_platforms();
  ASSERT_TRUE(platforms) << platforms.error().text();
  EXPECT_GE(platforms->size(), 1u);
}

TEST(Platforms, AMisspeltNameGetsASuggestion) {
  auto platform = load_platform("cpuu");
  ASSERT_FALSE(platform);
  EXPECT_THAT(platform.error().message, HasSubstr("did you mean 'cpu'"));
  EXPECT_THAT(load_platform("./nowhere").error().message, HasSubstr("no platform.toml"));
  EXPECT_FALSE(load_platform(""));
  EXPECT_FALSE(load_platform(".."));
}

TEST_F(PlatformTest, TheSmallestPlatformAndEveryKey) {
  auto smallest = load(kSmallest);
  ASSERT_TRUE(smallest) << smallest.error().text();
  EXPECT_EQ(smallest->objective, "time");
  EXPECT_EQ(smallest->sandbox.profile, "native");
  std::ofstream(dir_.path() / "names.txt") << "exp expf # comment\n\n# more\nGOMP_*\n";
  auto full = load(std::string(kSmallest) + R"(
prefix = ["qemu", "-cpu", "max"]
[[build.march]]
name = "best"
flags = ["-m1"]
needs = ["avx2"]
[probe]
argv = ["true"]
[sandbox]
profile = "driver"
devices = ["/dev/null"]
env = { A = "b" }
[peaks]
fp32_gflops = 12
[[profiler]]
name = "p"
argv = ["perf"]
gives = "text"
[symbols]
imports = ["memcpy"]
imports_file = "names.txt"
)");
  ASSERT_TRUE(full) << full.error().text();
  EXPECT_THAT(full->run.prefix, testing::ElementsAre("qemu", "-cpu", "max"));
  EXPECT_EQ(full->build.march[0].needs[0], "avx2");
  EXPECT_EQ(full->peaks.at("fp32_gflops"), 12);
  EXPECT_EQ(full->profilers[0].gives, "text");
  EXPECT_EQ(full->sandbox.env.at("A"), "b");
  EXPECT_THAT(full->allowed_imports, testing::ElementsAre("memcpy", "exp", "expf", "GOMP_*"));
  EXPECT_TRUE(probe_platform(*full).ready);
}

TEST_F(PlatformTest, AModelRanksWhereNothingIsTimed) {
  std::string modelled = std::string("objective = \"model\"\n") + kSmallest;
  std::string model = "[model]\nname = \"cycles\"\nversion = \"2\"\nargv = [\"count\", \"${artefact}\"]\n";
  auto platform = load(modelled + model);
  ASSERT_TRUE(platform) << platform.error().text();
  ASSERT_TRUE(platform->model);
  EXPECT_EQ(platform->model->command.name, "cycles");
  EXPECT_EQ(platform->model->version, "2");
  EXPECT_EQ(platform->model->command.runs, "tool");
  EXPECT_THAT(error(modelled), HasSubstr("'model.version' is missing"));
  EXPECT_THAT(error(modelled + "[model]\nname = \"x\"\nversion = \"1\"\n"),
              HasSubstr("'model.argv' is missing"));
  EXPECT_THAT(error(modelled + model + "runs = \"window\"\n"), HasSubstr("'model.runs' is"));
  EXPECT_THAT(error(modelled + "[model]\nname = \"x\"\nversion = \"1\"\nargv = [\"${artfact}\"]\n"),
              HasSubstr("did you mean 'artefact'?"));
  EXPECT_FALSE(load(kSmallest)->model);
}

TEST_F(PlatformTest, MistakesAreNamedWithTheirLine) {
  std::string good = kSmallest;
  auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = good;
    changed.replace(changed.find(from), from.size(), to);
    return error(changed);
  };
  EXPECT_THAT(with("language", "langage"), HasSubstr("'language' is missing"));
  EXPECT_THAT(error(good + "prefx = []\n"),
              HasSubstr("platform.toml:11: unknown key 'run.prefx' (did you mean 'prefix'?)"));
  EXPECT_THAT(with("kind = \"native\"", "kind = \"natve\""),
              HasSubstr("platform.toml:2: 'kind' cannot be 'natve' (did you mean 'native'?)"));
  EXPECT_THAT(with("files = [\".c\"]", "files = [1]"),
              HasSubstr("platform.toml:4: 'files' must be a list of strings"));
  EXPECT_THAT(with("files = [\".c\"]", "files = [\"c\"]"), HasSubstr("must start with a dot"));
  EXPECT_THAT(with("${source}", "${sorce}"), HasSubstr("unknown variable ${sorce} (did you mean 'source'?)"));
  EXPECT_THAT(with("\"${compiler}\", ", ""), HasSubstr("must start with"));
  EXPECT_THAT(with(", \"-o\", \"${output}\"", ""), HasSubstr("has no \"${output}\""));
  EXPECT_THAT(with("[[build.compiler]]\nname = \"cc\"\n", ""), HasSubstr("no compiler"));
  EXPECT_THAT(with("[build]\n", "[build]\ntimeout_seconds = -1\n"), HasSubstr("between 1 and 3600"));
  EXPECT_THAT(with("[run]", "run = 3\n[x]"), HasSubstr("'build.compiler.run'"));
  EXPECT_THAT(error(good + "[symbols]\nimports_file = \"../x\"\n"), HasSubstr("beside platform.toml"));
  EXPECT_THAT(error("description = \n"), HasSubstr("platform.toml:1:"));
  EXPECT_THAT(error(""), HasSubstr("is missing"));
}

TEST_F(PlatformTest, NoFileCrashesIt) {
  for (const std::string& text :
       {std::string("\xff\xfe\x00", 3), std::string(100'000, '['), std::string("a=[[[[[[[[[[1]]]]]]]]]]"),
        std::string("\0", 1), std::string("[["), std::string("[= ]"), std::string("[[é]]"),
        std::string("a = 1\n [[ ,")})
    EXPECT_NE(error(text), "loaded");
  std::string good = kSmallest;
  for (std::size_t cut = 0; cut < good.size(); cut += 3) (void)load(good.substr(0, cut));
}

TEST_F(PlatformTest, AProbeSaysWhatIsMissing) {
  Platform platform;
  platform.probe = {{"kforge-no-such-compiler", "--version"}, "", "", "install it"};
  Readiness readiness = probe_platform(platform);
  EXPECT_FALSE(readiness.ready);
  EXPECT_THAT(readiness.reason, HasSubstr("kforge-no-such-compiler"));
  EXPECT_EQ(readiness.remedy, "install it");
  platform.probe.argv = {"sh", "-c", "echo driver too old >&2; exit 3"};
  EXPECT_THAT(probe_platform(platform).reason, HasSubstr("driver too old"));
  platform.probe = {{}, "libkforge-no-such.so.1", "", "install it"};
  EXPECT_THAT(probe_platform(platform).reason, HasSubstr("libkforge-no-such.so.1"));
}

}  // namespace
}  // namespace kforge
