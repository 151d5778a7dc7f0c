#include "baseline/python_probe.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

#include "base/files.h"

namespace kforge {
namespace {

// A program that answers like Python, and counts how often it was asked.
fs::path fake_python(const fs::path& folder, const std::string& answer) {
  fs::path path = folder / "python3", count = folder / "asked";
  auto written = write_file_atomic(
      path, fmt::format("#!/bin/sh\necho x >> {}\ncat <<'END'\n{}\nEND\n", count.string(), answer), 0755);
  EXPECT_TRUE(written);
  return path;
}

std::size_t times_asked(const fs::path& folder) {
  auto text = read_file(folder / "asked");
  return text ? text->size() / 2 : 0;
}

TEST(PythonProbe, ReadsVersionsAndAsksOnce) {
  auto folder = TempDir::create();
  fs::path python =
      fake_python(folder->path(), R"({"versions": {"numpy": "1.2", "torch": "2.1.0"}, "folders": []})");
  for (int i = 0; i < 2; ++i) {
    PythonFacts facts = probe_python(python, folder->path() / "cache");
    EXPECT_EQ(facts.failure, "");
    EXPECT_EQ(facts.versions.at("torch"), "2.1.0");
    EXPECT_FALSE(facts.versions.contains("onnxruntime"));
  }
  EXPECT_EQ(times_asked(folder->path()), 1u);
}

TEST(PythonProbe, AsksAgainWhenAPackageFolderChanged) {
  auto folder = TempDir::create();
  fs::path packages = folder->path() / "site-packages";
  fs::create_directories(packages);
  fs::path python = fake_python(folder->path(),
                                fmt::format(R"({{"versions": {{}}, "folders": ["{}"]}})", packages.string()));
  probe_python(python, folder->path() / "cache");
  struct timespec times[2] = {{100, 0}, {100, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, packages.c_str(), times, 0), 0);
  probe_python(python, folder->path() / "cache");
  EXPECT_EQ(times_asked(folder->path()), 2u);
}

TEST(PythonProbe, SaysWhyItCouldNotAsk) {
  auto folder = TempDir::create();
  EXPECT_NE(probe_python(folder->path() / "none", folder->path() / "cache").failure, "");
  EXPECT_NE(probe_python("/bin/false", folder->path() / "cache").failure, "");
  fs::path chatty = fake_python(folder->path(), "hello");
  EXPECT_NE(probe_python(chatty, folder->path() / "cache").failure, "");
}

TEST(PythonProbe, DamagedCacheIsIgnored) {
  auto folder = TempDir::create();
  fs::path python = fake_python(folder->path(), R"({"versions": {"numpy": "1.2"}, "folders": []})");
  probe_python(python, folder->path() / "cache");
  for (const auto& entry : fs::directory_iterator(folder->path() / "cache"))
    ASSERT_TRUE(write_file_atomic(entry.path(), R"({"versions": 3, "times": {"/": "x"}})"));
  EXPECT_EQ(probe_python(python, folder->path() / "cache").versions.at("numpy"), "1.2");
}

TEST(PythonProbe, ANamedPythonComesFirstAndAloneWhereItIsNotThere) {
  EXPECT_EQ(python_candidates("/x/python"), std::vector<fs::path>{"/x/python"});
  auto folder = TempDir::create();
  fs::path own = fake_python(folder->path(), "{}");
  std::vector<fs::path> candidates = python_candidates(own);
  ASSERT_FALSE(candidates.empty());
  EXPECT_EQ(candidates[0], own);
  EXPECT_EQ(std::ranges::count(candidates, own), 1);
}

TEST(PythonProbe, KforgePythonListsFurtherOnes) {
  auto one = TempDir::create(), two = TempDir::create();
  fs::path first = fake_python(one->path(), "{}"), second = fake_python(two->path(), "{}");
  ::setenv("KFORGE_PYTHON", fmt::format("{}:{}:/nowhere/python", first.string(), second.string()).c_str(), 1);
  std::vector<fs::path> candidates = python_candidates({});
  ::unsetenv("KFORGE_PYTHON");
  ASSERT_GE(candidates.size(), 2u);
  EXPECT_EQ(candidates[0], first);
  EXPECT_EQ(candidates[1], second);
  EXPECT_EQ(std::ranges::count(candidates, "/nowhere/python"), 0);
}

TEST(PythonProbe, ANamedPythonsTorchIsTakenThoughItIsOld) {
  auto old = TempDir::create(), recent = TempDir::create(), home = TempDir::create();
  auto answer = [](const char* torch) {
    return fmt::format(R"({{"versions": {{"numpy": "1.2", "torch": "{}"}}, "folders": []}})", torch);
  };
  fs::path named = fake_python(old->path(), answer("1.13.0")),
           other = fake_python(recent->path(), answer("2.9.1"));
  ::setenv("KFORGE_PYTHON", other.c_str(), 1);
  ::setenv("KFORGE_HOME", home->path().c_str(), 1);
  auto by_name = python_with_torch(named), by_age = python_with_torch({});
  ::unsetenv("KFORGE_PYTHON");
  ::unsetenv("KFORGE_HOME");
  ASSERT_TRUE(by_name && by_age);
  EXPECT_EQ(by_name->python, named);
  EXPECT_EQ(by_age->python, other);
}

TEST(PythonProbe, VersionsAreComparedByTheirNumbers) {
  EXPECT_TRUE(is_newer("2.15.0+cu132", "2.9.1"));
  EXPECT_TRUE(is_newer("2.0", "1.13.0a0+gitunknown"));
  EXPECT_FALSE(is_newer("1.13.0a0", "1.13.0"));
  EXPECT_FALSE(is_newer("unknown", "0.1"));
}

}  // namespace
}  // namespace kforge
