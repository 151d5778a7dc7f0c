#include "platform/platform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <fstream>
#include <map>

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
)";

// Sets KFORGE_HOME for one test.
class Home {
 public:
  explicit Home(const fs::path& path) {
    if (const char* before = std::getenv("KFORGE_HOME")) before_ = before;
    ::setenv("KFORGE_HOME", path.c_str(), 1);
  }
  ~Home() {
    if (before_)
      ::setenv("KFORGE_HOME", before_->c_str(), 1);
    else
      ::unsetenv("KFORGE_HOME");
  }

 private:
  std::optional<std::string> before_;
};

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
  EXPECT_EQ(platform->kind, PlatformKind::kNative);
  EXPECT_FALSE(platform->emulated());
  EXPECT_EQ(platform->content_hash.size(), 64u);
  EXPECT_EQ(platform->build.compilers[0].name, "g++");
  EXPECT_EQ(platform->build.march.back().name, "portable");
  EXPECT_TRUE(platform->build.march.back().needs.empty());
  EXPECT_FALSE(platform->notes.empty());
  EXPECT_TRUE(fs::exists(platform->folder / "example/kernel.cc"));
  Readiness readiness = probe_platform(*platform);
  EXPECT_EQ(readiness.state, Readiness::State::kReady) << readiness.reason;
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
  auto platforms = list_platforms();
  ASSERT_TRUE(platforms) << platforms.error().text();
  EXPECT_GE(platforms->size(), 1u);
  for (const ListedPlatform& listed : *platforms)
    EXPECT_TRUE(listed.platform) << listed.name << ": " << listed.platform.error().text();
}

TEST_F(PlatformTest, AFolderInTheHomeIsListedAndABrokenOneHidesNoOther) {
  Home home(dir_.path());
  for (const char* name : {"broken", "mine", "cpu"}) {
    fs::create_directories(dir_.path() / "platforms" / name);
    std::ofstream(dir_.path() / "platforms" / name / "platform.toml")
        << (name == std::string("broken") ? "kind = 3\n" : kSmallest);
  }
  auto platforms = list_platforms();
  ASSERT_TRUE(platforms) << platforms.error().text();
  std::map<std::string, std::vector<const ListedPlatform*>> by_name;
  for (const ListedPlatform& listed : *platforms) by_name[listed.name].push_back(&listed);
  ASSERT_EQ(by_name["mine"].size(), 1u);
  EXPECT_TRUE(by_name["mine"][0]->platform);
  ASSERT_EQ(by_name["broken"].size(), 1u);
  EXPECT_THAT(by_name["broken"][0]->platform.error().message, HasSubstr("broken/platform.toml"));
  ASSERT_EQ(by_name["cpu"].size(), 2u);
  EXPECT_TRUE(by_name["cpu"][0]->platform);
  EXPECT_THAT(by_name["cpu"][1]->platform.error().message, HasSubstr("called like a shipped platform"));
  EXPECT_EQ(load_platform("mine")->folder, dir_.path() / "platforms/mine");
  EXPECT_NE(load_platform("cpu")->folder, dir_.path() / "platforms/cpu");
  EXPECT_THAT(load_platform("mina").error().message, HasSubstr("did you mean 'mine'"));
}

TEST_F(PlatformTest, TheHashFollowsTheFilesAndNotThePlace) {
  std::string before = load(kSmallest)->content_hash;
  EXPECT_EQ(load(kSmallest)->content_hash, before);
  std::ofstream(dir_.path() / "notes.md") << "advice\n";
  std::string with_notes = load(kSmallest)->content_hash;
  EXPECT_NE(with_notes, before);
  TempDir other = TempDir::create().value();
  fs::copy(dir_.path(), other.path() / "copy", fs::copy_options::recursive);
  EXPECT_EQ(load_platform((other.path() / "copy").string())->content_hash, with_notes);
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
  EXPECT_EQ(smallest->objective, Objective::kTime);
  EXPECT_EQ(smallest->sandbox.profile, SandboxProfile::kNative);
  std::ofstream(dir_.path() / "names.txt") << "exp expf # comment\n\n# more\nGOMP_*\n";
  fs::create_directory(dir_.path() / "tools");
  auto full = load(std::string(kSmallest) + R"(
[[build.march]]
name = "best"
flags = ["-m1"]
needs = ["neon"]
[run]
machine = "pdp11"
prefix = ["qemu", "-cpu", "max"]
runner = ["${compiler}", "${flags}", "-I", "${include}", "${source}", "-o", "${output}"]
features = ["neon"]
[probe]
argv = ["true"]
[sandbox]
profile = "driver"
read = ["tools", "/opt/toolchain/"]
devices = ["/dev/null"]
env = { A = "b" }
[peaks]
fp32_gflops = 12
[[profiler]]
name = "p"
argv = ["perf"]
gives = "text"
parser = "text"
[symbols]
imports = ["memcpy"]
imports_file = "names.txt"
)");
  ASSERT_TRUE(full) << full.error().text();
  EXPECT_THAT(full->run.prefix, testing::ElementsAre("qemu", "-cpu", "max"));
  EXPECT_THAT(full->run.features, testing::ElementsAre("neon"));
  EXPECT_TRUE(full->emulated());
  EXPECT_EQ(full->prefix_here(), full->run.prefix);
  EXPECT_EQ(full->build.march[0].needs[0], "neon");
  EXPECT_EQ(full->peaks.at("fp32_gflops"), 12);
  EXPECT_EQ(full->profilers[0].gives, "text");
  EXPECT_EQ(full->sandbox.profile, SandboxProfile::kDriver);
  EXPECT_THAT(full->readable(), testing::ElementsAre(dir_.path() / "tools", "/opt/toolchain", "/dev/null"));
  EXPECT_EQ(full->sandbox.env.at("A"), "b");
  EXPECT_THAT(full->allowed_imports, testing::ElementsAre("memcpy", "exp", "expf", "GOMP_*"));
}

TEST_F(PlatformTest, AFolderWithoutSymbolsHasTheCommonOnes) {
  auto smallest = load(kSmallest);
  ASSERT_TRUE(smallest) << smallest.error().text();
  EXPECT_TRUE(listed(smallest->allowed_imports, "expf"));
  EXPECT_FALSE(listed(smallest->allowed_imports, "dlopen"));
  EXPECT_TRUE(listed(smallest->allowed_needed, "libc.so.6"));
  EXPECT_TRUE(listed(smallest->allowed_needed, "ld-linux-aarch64.so.1"));
}

TEST_F(PlatformTest, AnEmulatorStandsBeforeTheRunnerOnlyWhereItIsNeeded) {
  utsname here{};
  ::uname(&here);
  auto platform = [&](const std::string& machine) {
    return load(fmt::format("{}[run]\nmachine = \"{}\"\nprefix = [\"qemu\"]\nrunner = [\"${{compiler}}\", "
                            "\"${{flags}}\", "
                            "\"${{source}}\", \"${{output}}\"]\n",
                            kSmallest, machine))
        .value();
  };
  EXPECT_FALSE(platform(here.machine).emulated());
  EXPECT_TRUE(platform(here.machine).prefix_here().empty());
  EXPECT_EQ(platform(here.machine).sandbox.profile, SandboxProfile::kNative);
  EXPECT_EQ(platform("pdp11").prefix_here().size(), 1u);
  EXPECT_EQ(platform("pdp11").sandbox.profile, SandboxProfile::kDriver);
  // Without a machine it is a wrapper of every run, and what it runs is timed.
  auto wrapped = load(std::string(kSmallest) + "[run]\nprefix = [\"nice\"]\n").value();
  EXPECT_EQ(wrapped.prefix_here().size(), 1u);
  EXPECT_FALSE(wrapped.emulated());
}

TEST_F(PlatformTest, KeysBelongToAKind) {
  std::string device = R"(description = "d"
kind = "device"
language = "OpenCL C"
files = [".cl"]
[run]
driver = "opencl"
)";
  auto platform = load(device);
  ASSERT_TRUE(platform) << platform.error().text();
  EXPECT_EQ(platform->kind, PlatformKind::kDevice);
  EXPECT_EQ(platform->run.driver, DeviceDriver::kOpenCl);
  EXPECT_EQ(platform->sandbox.profile, SandboxProfile::kDriver);
  EXPECT_THAT(error(device + "prefix = [\"x\"]\n"),
              HasSubstr("'run.prefix' belongs to platforms of kind native"));
  EXPECT_THAT(error(device + "[symbols]\nimports = [\"x\"]\n"), HasSubstr("'symbols.imports' belongs"));
  EXPECT_THAT(error(device + "[[build.step]]\nargv = [\"x\"]\n"),
              HasSubstr("no effect without 'build.argv'"));
  EXPECT_THAT(error(device + "[build]\nargv = [\"cc\", \"${source}\", \"${output}\", \"${flags}\"]\n"),
              HasSubstr("unknown variable ${flags}"));
  EXPECT_THAT(error(device + "[[build.compiler]]\nname = \"cc\"\n"), HasSubstr("'build.compiler' belongs"));
  EXPECT_THAT(error(device + "[sandbox]\nprofile = \"native\"\n"), HasSubstr("leave the key out"));
  EXPECT_THAT(error(device.substr(0, device.find("driver"))), HasSubstr("'run.driver' is missing"));
  EXPECT_THAT(error(std::string(kSmallest) + "[run]\ndriver = \"opencl\"\n"),
              HasSubstr("'run.driver' belongs to platforms of kind device"));
}

TEST_F(PlatformTest, AKeyWithoutEffectIsAMistake) {
  std::string good = kSmallest;
  EXPECT_THAT(error(good + "[run]\nfeatures = [\"neon\"]\n"), HasSubstr("no effect without 'run.machine'"));
  EXPECT_THAT(error(good + "[run]\nmachine = \"aarch64\"\n"), HasSubstr("'run.runner' is missing"));
  EXPECT_THAT(error(good + "[model]\nname = \"m\"\nversion = \"1\"\nargv = [\"x\"]\n"),
              HasSubstr("[model] has no effect with objective \"time\""));
  EXPECT_THAT(error(good + "[peaks]\nfp32_glops = 3\n"),
              HasSubstr("'peaks.fp32_glops' (did you mean 'fp32_gflops'?)"));
  EXPECT_THAT(error(good + "[peaks]\nfp32_gflops = -3\n"), HasSubstr("must be more than 0"));
  EXPECT_THAT(error(good + "[probe]\ntrial = \"x\"\n"), HasSubstr("unknown key 'probe.trial'"));
  EXPECT_THAT(error(good + "[[profiler]]\nname = \"p\"\ngives = \"text\"\nparser = \"txt\"\n"),
              HasSubstr("'profiler.parser' cannot be 'txt' (did you mean 'text'?)"));
  EXPECT_THAT(error(good + "[sandbox]\ndevices = [\"/etc/passwd\"]\n"), HasSubstr("is not below /dev"));
  EXPECT_THAT(error(good + "[sandbox]\nread = [\"/\"]\n"), HasSubstr("the whole machine"));
  EXPECT_THAT(error(good + "[sandbox]\nprofile = \"compile\"\n"), HasSubstr("one of native, driver"));
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
  EXPECT_THAT(error(modelled + "[model]\nbuiltin = \"simt\"\n"), HasSubstr("'model.chip.name' is missing"));
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
  EXPECT_THAT(error(good + "[run]\nprefx = []\n"),
              HasSubstr("platform.toml:10: unknown key 'run.prefx' (did you mean 'prefix'?)"));
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
  EXPECT_THAT(error("run = 3\n" + good), HasSubstr("'run'"));
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

constexpr const char* kSmallestCommand = R"(description = "d"
kind = "command"
language = "sh"
files = [".sh"]
comment = "#"
[run]
command = ["/bin/sh", "${platform}/runner.sh", "${program}"]
)";

TEST_F(PlatformTest, CommandsHaveARunnerAndACommentSign) {
  auto platform = load(kSmallestCommand);
  ASSERT_TRUE(platform) << platform.error().message;
  EXPECT_EQ(platform->comment, "#");
  EXPECT_EQ(platform->run.command.size(), 3u);
  EXPECT_EQ(platform->sandbox.profile, SandboxProfile::kDriver);
  std::ofstream(dir_.path() / "runner.sh") << "exit 0";
  auto files = own_files(*platform);
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 1u) << "neither platform.toml nor folders";
  EXPECT_EQ(files->front().name, "runner.sh");
}

// Every key that would have no effect is a mistake.
TEST_F(PlatformTest, KeysOfOtherKindsAreMistakesOnCommandPlatforms) {
  const std::string text = kSmallestCommand;
  auto changed = [&](const std::string& from, const std::string& to) {
    std::string toml = text;
    return error(toml.replace(toml.find(from), from.size(), to));
  };
  EXPECT_THAT(changed("comment = \"#\"\n", ""), HasSubstr("comment"));
  EXPECT_THAT(changed("\"#\"", "\"a very long sign\""), HasSubstr("'comment' is what begins"));
  EXPECT_THAT(changed(", \"${program}\"", ""), HasSubstr("has no \"${program}\""));
  EXPECT_THAT(changed("${platform}", "${platfrom}"), HasSubstr("did you mean 'platform'"));
  EXPECT_THAT(error(text + "driver = \"opencl\"\n"),
              HasSubstr("'run.driver' belongs to platforms of kind device"));
  EXPECT_THAT(error(text + "prefix = [\"x\"]\n"), HasSubstr("kind native"));
  EXPECT_THAT(error(text + "[build]\ntimeout_seconds = 3\n"),
              HasSubstr("has no effect without 'build.argv'"));
  EXPECT_THAT(error(text + "[build]\nargv = [\"cc\", \"${source}\", \"${kernel}\", \"${output}\"]\n"),
              HasSubstr("unknown variable ${kernel}"));
  EXPECT_THAT(error(text + "[probe]\nemulated = \"x\"\n"), HasSubstr("without 'probe.argv'"));
  EXPECT_THAT(error(text + "[model]\nname = \"m\"\nversion = \"1\"\nargv = [\"x\"]\n"),
              HasSubstr("commands have no [model]"));
  EXPECT_THAT(
      error(text +
            "[[profiler]]\nname = \"p\"\ngives = \"text\"\nparser = \"text\"\nargv = [\"x\", \"${call}\"]\n"),
      HasSubstr("unknown variable ${call}"));
  EXPECT_THAT(error(std::string(kSmallest) + "[probe]\nargv = [\"x\"]\nemulated = \"x\"\n"),
              HasSubstr("'probe.emulated' belongs to platforms of kind command"));
  EXPECT_THAT(error("comment = \"#\"\n" + std::string(kSmallest)),
              HasSubstr("'comment' belongs to platforms of kind command"));
}

TEST(ShippedChips, EveryFigureIsGivenAndAMissingOneIsNamed) {
  for (const char* name : {"cuda", "metal"}) {
    auto platform = load_platform(name);
    ASSERT_TRUE(platform) << platform.error().text();
    ASSERT_TRUE(platform->model && platform->model->chip) << name;
    EXPECT_THAT(platform->model->label(), HasSubstr("simt 1, "));
    auto text = read_file(platform->folder / "platform.toml");
    ASSERT_TRUE(text);
    for (const ChipKey& key : kChipKeys) {
      EXPECT_GE((*platform->model->chip).*key.field, 0) << key.key;
      std::string without = *text;
      const std::size_t at = without.find("\n" + std::string(key.key) + " = ");
      ASSERT_NE(at, std::string::npos) << key.key;
      without.erase(at, without.find('\n', at + 1) - at);
      TempDir folder = *TempDir::create(0755);
      std::ofstream(folder.path() / "platform.toml") << without;
      auto broken = load_platform(folder.path().string());
      ASSERT_FALSE(broken) << key.key;
      EXPECT_THAT(broken.error().text(), HasSubstr("'model.chip." + std::string(key.key) + "' is missing"));
    }
  }
}

}  // namespace
}  // namespace kforge
