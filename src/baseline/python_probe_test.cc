#include "baseline/python_probe.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

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

TEST(PythonProbe, ANamedPythonIsTheOnlyCandidate) {
  EXPECT_EQ(python_candidates("/x/python").size(), 1u);
  EXPECT_EQ(python_candidates("/x/python")[0], "/x/python");
}

}  // namespace
}  // namespace kforge
