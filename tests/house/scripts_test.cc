// The scripts a newcomer runs: they parse, do nothing quickly, and refuse what they do not know.
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/subprocess.h"

namespace kforge {
namespace {

using namespace std::chrono_literals;

const fs::path kRoot = KFORGE_SOURCE_DIR;

TEST(Scripts, Parse) {
  std::vector<fs::path> scripts{kRoot / ".ci/run"};
  for (const auto& entry : fs::directory_iterator(kRoot / "scripts")) scripts.push_back(entry.path());
  for (const fs::path& script : scripts) {
    bool python = script.extension() == ".py";
    auto done = run_command({.argv = python ? std::vector<std::string>{"python3", "-B", script, "tables",
                                                                       kRoot / "docs/evidence.json"}
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

// Every package CMake looks for is in the list that setup.sh installs: a fresh machine must not find out
// first.
TEST(Scripts, SetupKnowsEveryPackageCMakeLooksFor) {
  const std::pair<const char*, const char*> kPackages[] = {
      {"fmt", "libfmt-dev"},
      {"spdlog", "libspdlog-dev"},
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
