// The scripts a newcomer runs: they parse, do nothing quickly, and refuse what they do not know.
#include <gtest/gtest.h>

#include "base/subprocess.h"
#include "house/root.h"

namespace kforge {
namespace {

using namespace std::chrono_literals;

TEST(Scripts, Parse) {
  std::vector<fs::path> scripts{kRoot / ".ci/run"};
  for (const auto& entry : fs::directory_iterator(kRoot / "scripts")) scripts.push_back(entry.path());
  scripts.push_back(kRoot / "bench/kernelbench.sh");
  for (const fs::path& script : scripts) {
    bool python = script.extension() == ".py";
    const char* parse = "import ast, sys; ast.parse(open(sys.argv[1], encoding='utf-8').read())";
    auto done = run_command({.argv = python ? std::vector<std::string>{"python3", "-c", parse, script}
                                            : std::vector<std::string>{"bash", "-n", script}});
    ASSERT_TRUE(done);
    EXPECT_TRUE(done->ok()) << script << ": " << done->err;
  }
}

TEST(Scripts, TheTablesOfEvidenceAreThoseOfItsData) {
  auto done = run_command({.argv = {"python3", "-B", kRoot / "scripts/evidence.py", "check",
                                    kRoot / "docs/evidence.json", kRoot / "docs/evidence.md"}});
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->ok()) << done->err;
}

TEST(Scripts, SetupWithNothingToDoTakesUnderTwoSeconds) {
  auto start = std::chrono::steady_clock::now();
  auto done = run_command({.argv = {kRoot / "scripts/setup.sh"}, .timeout = 600s});
  ASSERT_TRUE(done);
  if (done->out.find("installing") != std::string::npos) GTEST_SKIP() << "something had to be installed";
  EXPECT_TRUE(done->ok()) << done->out << done->err;
  EXPECT_NE(done->out.find("core packages are here"), std::string::npos) << done->out;
  EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
}

TEST(Scripts, SetupRefusesWhatItDoesNotKnow) {
  auto done = run_command({.argv = {kRoot / "scripts/setup.sh", "everything"}});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->exit_code, 2);
  EXPECT_NE(done->err.find("usage"), std::string::npos);
}

// A speedup whose interval holds 1 is no win, and the table says so in words.
TEST(Scripts, TheTableOfTheQuickstartClaimsNoWinThatWasNotShown) {
  TempDir folder = *TempDir::create();
  auto report = [&](const char* name, const char* speedup) {
    fs::path file = folder.path() / name;
    EXPECT_TRUE(write_scratch_file(
        file, std::string(R"({"task": "core/)") + name +
                  R"(", "best": {"time_ns": {"median": 2.5e6}, "speedup": )" + speedup +
                  R"(, "baselines": [{"name": "onednn", "time_ns": {"median": 2.6e6}}]}})"));
    return file.string();
  };
  auto done =
      run_command({.argv = {"python3", "-B", kRoot / "scripts/quickstart_table.py",
                            report("tied", R"({"value": 1.04, "lo": 0.94, "hi": 1.09, "against": "onednn"})"),
                            report("won", R"({"value": 1.80, "lo": 1.70, "hi": 1.90, "against": "onednn"})"),
                            "missing.json"}});
  ASSERT_TRUE(done && done->ok()) << done->err;
  auto line_with = [&](const char* word) {
    std::size_t at = done->out.find(word);
    return at == std::string::npos ? "" : done->out.substr(at, done->out.find('\n', at) - at);
  };
  EXPECT_NE(line_with("core/tied").find("no difference to onednn shown"), std::string::npos) << done->out;
  EXPECT_NE(line_with("core/won").find("faster than onednn"), std::string::npos) << done->out;
  EXPECT_NE(line_with("missing.json").find("no report"), std::string::npos) << done->out;
}

// Every package CMake looks for is in the list that setup.sh installs: a fresh machine must not find out
// first.
TEST(Scripts, SetupKnowsEveryPackageCMakeLooksFor) {
  const std::pair<const char*, const char*> kPackages[] = {
      {"fmt", "libfmt-dev"},
      {"nlohmann_json", "nlohmann-json3-dev"},
      {"GTest", "libgtest-dev"},
      {"OpenSSL", "libssl-dev"},
      {"SQLite3", "libsqlite3-dev"},
      {"CLI11", "libcli11-dev"},
      {"Protobuf", "libprotobuf-dev"},
      {"Threads", "build-essential"},
      {"PkgConfig", "pkg-config"},
      {"dnnl", "libdnnl-dev"},
      {"benchmark", "libbenchmark-dev"},
      {"OpenMP", "build-essential"},
      {"CURL", "libcurl4-openssl-dev"},
      {"tomlplusplus", "libtomlplusplus-dev"},
      {"Python3", "python3"},
  };
  std::string setup = *read_file(kRoot / "scripts/setup.sh");
  for (const auto& entry : fs::recursive_directory_iterator(kRoot)) {
    if (entry.path().string().starts_with((kRoot / "out").string())) continue;
    if (entry.path().filename() != "CMakeLists.txt" && entry.path().extension() != ".cmake") continue;
    std::string text = *read_file(entry.path());
    for (std::size_t at = 0; (at = text.find("find_package(", at)) != std::string::npos;) {
      at += 13;
      std::string name = text.substr(at, text.find_first_of(" )", at) - at);
      auto known = std::find_if(std::begin(kPackages), std::end(kPackages),
                                [&](const auto& p) { return name == p.first; });
      ASSERT_NE(known, std::end(kPackages))
          << name << " in " << entry.path() << " has no Debian package listed in this test";
      EXPECT_NE(setup.find(known->second), std::string::npos)
          << known->second << " is missing in scripts/setup.sh";
    }
  }
}

}  // namespace
}  // namespace kforge
