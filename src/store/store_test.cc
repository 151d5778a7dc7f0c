#include "store/store.h"

#include <gtest/gtest.h>

#include "base/hash.h"

namespace kforge {
namespace {

class StoreTest : public testing::Test {
 protected:
  TempDir folder_ = *TempDir::create();
  Store store_ = *Store::open(folder_.path());

  StoredCandidate candidate() {
    return {"c0ffee", "file softmax.cc", {{"kernel.cc", "int main;"}, {"part.h", "#pragma once"}}};
  }

  StoredResult result(std::string id, std::string task = "core/softmax", std::string outcome = "passed") {
    StoredResult result;
    result.id = std::move(id);
    result.created_at = utc_now();
    result.task = std::move(task);
    result.task_hash = "abc";
    result.shape_set = "bench";
    result.platform = "cpu";
    result.precision = "fp32";
    result.outcome = std::move(outcome);
    result.machine = "m1";
    result.document = R"({"outcome":"passed"})";
    return result;
  }
};

TEST_F(StoreTest, CandidateComesBackWithItsFilesInOrder) {
  ASSERT_TRUE(store_.save_candidate(candidate()));
  ASSERT_TRUE(store_.save_candidate(candidate())) << "saving again changes nothing";
  auto back = store_.candidate("c0ffee");
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->origin, "file softmax.cc");
  ASSERT_EQ(back->files.size(), 2u);
  EXPECT_EQ(back->files[0].name, "kernel.cc");
  EXPECT_EQ(back->files[0].content, "int main;");
  EXPECT_EQ(back->files[1].name, "part.h");
}

TEST_F(StoreTest, ResultComesBackWithAllItsEvidence) {
  ASSERT_TRUE(store_.save_candidate(candidate()));
  StoredResult saved = result("0000aaaa1111");
  saved.candidate = "c0ffee";
  saved.gate = "accuracy";
  saved.time_ns = 1.5e6;
  saved.speedup = 2.5;
  saved.against = "onednn";
  saved.gates = {{"shape", "passed", "all outputs", ""},
                 {"accuracy", "failed", "too far off", R"({"index":3})"}};
  saved.samples = {{"candidate", {1.5, 2.25, 0.1}}, {"onednn", {}}};
  saved.seeds = {{"check", 0xffffffffffffffffull}, {"timed", 1}};
  auto build = store_.save_build({.candidate = "c0ffee",
                                  .platform = "cpu",
                                  .task_key = "k",
                                  .march = "avx512",
                                  .command = "g++",
                                  .log = "",
                                  .seconds = 0.2});
  ASSERT_TRUE(build) << build.error().text();
  saved.build = *build;
  auto done = store_.save_result(saved);
  ASSERT_TRUE(done) << done.error().text();

  auto back = store_.result("0000aaaa1111");
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->task, "core/softmax");
  EXPECT_EQ(back->gate, "accuracy");
  EXPECT_EQ(back->candidate, "c0ffee");
  EXPECT_EQ(back->build, *build);
  EXPECT_EQ(back->time_ns, 1.5e6);
  EXPECT_EQ(back->speedup, 2.5);
  EXPECT_EQ(back->document, saved.document);
  ASSERT_EQ(back->gates.size(), 2u);
  EXPECT_EQ(back->gates[1].evidence, R"({"index":3})");
  ASSERT_EQ(back->samples.size(), 2u);
  EXPECT_EQ(back->samples[0].ns_per_call, (std::vector<double>{1.5, 2.25, 0.1}));
  ASSERT_EQ(back->seeds.size(), 2u);
  EXPECT_EQ(back->seeds[0].seed, 0xffffffffffffffffull);
}

TEST_F(StoreTest, ResultIsFoundByUniquePrefixOrAsLast) {
  ASSERT_TRUE(store_.save_result(result("abc1")));
  ASSERT_TRUE(store_.save_result(result("abd2")));
  EXPECT_EQ(store_.result("abc")->id, "abc1");
  EXPECT_EQ(store_.result("last")->id, "abd2");
  auto ambiguous = store_.result("ab");
  ASSERT_FALSE(ambiguous);
  EXPECT_NE(ambiguous.error().message.find("more than one"), std::string::npos);
}

TEST_F(StoreTest, WholeIdWinsOverLongerOnesThatBeginWithIt) {
  ASSERT_TRUE(store_.save_result(result("abc")));
  ASSERT_TRUE(store_.save_result(result("abcd")));
  EXPECT_EQ(store_.result("abc")->id, "abc");
}

TEST_F(StoreTest, UnknownResultSaysHowToListThem) {
  for (const char* id : {"zzz", "", "last", "%", "' OR 1=1 --"}) {
    auto missing = store_.result(id);
    ASSERT_FALSE(missing) << id;
    EXPECT_NE(missing.error().remedy.find("kforge"), std::string::npos);
  }
}

TEST_F(StoreTest, ListIsNewestFirstAndFiltered) {
  ASSERT_TRUE(store_.save_result(result("a1", "core/softmax")));
  ASSERT_TRUE(store_.save_result(result("a2", "core/gemm", "crash")));
  ASSERT_TRUE(store_.save_result(result("a3", "core/softmax")));
  auto all = store_.latest_results({});
  ASSERT_EQ(all->size(), 3u);
  EXPECT_EQ((*all)[0].id, "a3");
  EXPECT_EQ(store_.latest_results({.task = "softmax"})->size(), 2u);
  EXPECT_EQ(store_.latest_results({.task = "core/gemm"})->size(), 1u);
  EXPECT_EQ(store_.latest_results({.outcome = "crash"})->front().id, "a2");
  EXPECT_EQ(store_.latest_results({.limit = 2})->size(), 2u);
  EXPECT_FALSE((*all)[0].speedup.has_value());
}

TEST_F(StoreTest, ResultThatNamesAnUnknownCandidateIsRefusedWhole) {
  StoredResult bad = result("a1");
  bad.candidate = "never saved";
  bad.gates = {{"shape", "passed", "", ""}};
  EXPECT_FALSE(store_.save_result(bad));
  EXPECT_TRUE(store_.latest_results({})->empty());
}

TEST_F(StoreTest, BuildKeepsItsArtefact) {
  ASSERT_TRUE(store_.save_candidate(candidate()));
  fs::path library = folder_.path() / "kernel.so";
  ASSERT_TRUE(write_file_atomic(library, "ELF and so on"));
  StoredBuild build{.candidate = "c0ffee",
                    .platform = "cpu",
                    .task_key = "k",
                    .march = "avx2",
                    .command = "g++",
                    .log = ""};
  build.artefact = library;
  ASSERT_TRUE(store_.save_build(build));
  EXPECT_EQ(*store_.load_artefact(sha256_hex("ELF and so on")), "ELF and so on");
}

TEST_F(StoreTest, DamagedArtefactIsNoticed) {
  std::string hash = *store_.save_artefact("the content");
  ASSERT_TRUE(write_file_atomic(store_.artefact_path(hash), "the c0ntent"));
  auto back = store_.load_artefact(hash);
  ASSERT_FALSE(back);
  EXPECT_NE(back.error().message.find("damaged"), std::string::npos);
}

TEST(Home, OneThatCannotBeWrittenIsSaidWithTheRemedy) {
  auto lock = use_home("/proc");
  ASSERT_FALSE(lock);
  EXPECT_NE(lock.error().message.find("cannot write to KForge's folder /proc"), std::string::npos);
  EXPECT_NE(lock.error().remedy.find("KFORGE_HOME"), std::string::npos);
}

}  // namespace
}  // namespace kforge
