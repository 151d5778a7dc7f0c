// Exports for C and C++: built with CMake, tested by their own tests, installed, and used by another project.
#include "export/export_case.h"
#include "store/store.h"

namespace kforge {
namespace {

using testing::HasSubstr;

class CExport : public ExportCase {};

// Both kernels define the same functions; the program that uses both finds two packages.
constexpr const char* kConsumerCMake = R"(cmake_minimum_required(VERSION 3.16)
project(consumer C CXX)
find_package(first REQUIRED)
find_package(second REQUIRED)
add_executable(consumer consumer.cc)
target_compile_features(consumer PRIVATE cxx_std_20)
target_link_libraries(consumer PRIVATE kforge::first kforge::second)
)";
constexpr const char* kConsumer = R"(#include <cstdio>
#include <first.h>
#include <second.hpp>
alignas(64) float x[6 * 33 + 16], w[33], y[6 * 33], w2[8], x2[16], y2[16];
int main() {
  for (float& v : x) v = 1;
  for (float& v : w) v = 3;
  if (first_compute(x, w, y) != FIRST_OK || y[100] != 5) return 1;
  if (first_compute(x + 1, w, y) != FIRST_MISALIGNED) return 2;
  second::Plan plan(w2, 1);
  for (float& v : x2) v = 4;
  plan(x2, y2);
  if (y2[15] != 8) return 3;
  try {
    plan({x2, 15}, y2);
    return 4;
  } catch (const std::invalid_argument& error) {
    std::puts(error.what());
  }
  return first_missing() ? 5 : 0;
}
)";

TEST_F(CExport, TwoPackagesBuildTestThemselvesAndLiveInOneProgram) {
  fs::path task = scratch_task();
  std::string bench = judged(task, kPrepared), small = judged(task, kPrepared, {"--shapes", "small"});
  Finished c = exported(bench, {"--name", "first", "-o", "first"});
  ASSERT_EQ(c.exit_code, 0) << c.err;
  EXPECT_THAT(c.out, HasSubstr("Verified on"));
  EXPECT_THAT(c.out, HasSubstr("fixed shape"));
  EXPECT_THAT(c.out, HasSubstr("nothing was timed"));
  ASSERT_EQ(exported(small, {"--name", "second", "--as", "cpp", "-o", "second"}).exit_code, 0);
  Finished built = shell(
      "for one in first second; do\n"
      "  cmake -S $one -B $one/build -G Ninja -DBUILD_SHARED_LIBS=$([ $one = first ] && echo ON || echo "
      "OFF)\n"
      "  cmake --build $one/build\n  ctest --test-dir $one/build --output-on-failure\n"
      "  cmake --install $one/build --prefix prefix\ndone");
  ASSERT_EQ(built.exit_code, 0) << built.out << built.err;
  EXPECT_THAT(built.out, HasSubstr("100% tests passed"));
  fs::create_directories(here_ / "consumer");
  std::ofstream(here_ / "consumer/CMakeLists.txt") << kConsumerCMake;
  std::ofstream(here_ / "consumer/consumer.cc") << kConsumer;
  Finished used = shell(
      "cmake -S consumer -B consumer/build -G Ninja -DCMAKE_PREFIX_PATH=\"$PWD/prefix\"\n"
      "cmake --build consumer/build\nconsumer/build/consumer");
  EXPECT_EQ(used.exit_code, 0) << used.out << used.err;
  EXPECT_THAT(used.out, HasSubstr("second: x has 15 elements, not 16"));

  auto provenance = nlohmann::json::parse(*read_file(here_ / "first/provenance.json"));
  EXPECT_EQ(provenance["result"], bench);
  EXPECT_EQ(provenance["precision"], "fp32");
  EXPECT_EQ(provenance["task"]["dims"]["D"], 33);
  EXPECT_FALSE(provenance["gates"].empty());
  EXPECT_THAT(provenance["reproduce"]["same_store"].get<std::string>(), HasSubstr(bench));
}

TEST_F(CExport, WhatMayNotLeaveIsRefusedWithItsReason) {
  home_ = folder_.path() / "home";  // its records are false
  fs::path task = scratch_task();
  std::string id = judged(task, kPrepared, {"--shapes", "small"});
  // Its own record, changed in one point.
  auto variant = [&](const std::string& name, const auto& change) {
    Store store = *Store::open(home_);
    StoredResult record = *store.result(id);
    record.id = name;
    auto document = nlohmann::json::parse(record.document);
    document["id"] = name;
    change(document);
    record.document = document.dump();
    ASSERT_TRUE(store.save_result(record));
  };
  variant("emulated0001", [](auto& d) { d["device"]["emulated"] = true; });
  EXPECT_THAT(exported("emulated0001", {}).err, HasSubstr("verified under an emulator"));
  variant("device000001", [](auto& d) { d["platform"] = "opencl"; });
  EXPECT_THAT(exported("device000001", {}).err, HasSubstr("only native kernels are exported"));
  variant("wrong0000001", [](auto& d) {
    d["outcome"] = "wrong_value";
    d["gate"] = "accuracy";
  });
  EXPECT_THAT(exported("wrong0000001", {}).err, HasSubstr("is not verified: its outcome was wrong_value"));

  std::ofstream(here_ / "mine.txt") << "mine";
  Finished other = exported(id, {"-o", "."});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("has files that no export made"));
  EXPECT_THAT(exported(id, {"--name", "a-b"}).err, HasSubstr("--name a_b"));
  EXPECT_THAT(exported(id, {"--as", "fortran"}).err, HasSubstr("is none of c, cpp, pytorch, wheel"));
  EXPECT_THAT(exported(id, {"--case", "2"}).err, HasSubstr("--case 1: B=2 D=8"));

  std::ofstream(task / "task.toml", std::ios::app) << "# changed\n";
  Finished changed = exported(id, {"--json"});
  EXPECT_EQ(changed.exit_code, 2);
  EXPECT_THAT(nlohmann::json::parse(changed.out)["error"].get<std::string>(), HasSubstr("has changed since"));
}

}  // namespace
}  // namespace kforge
