#include "forge/run_documents.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

TEST(RunDocuments, ProposalComesBack) {
  Proposal p{Pass::kOptimization, 4, 3, 2, 1, 5};
  Proposal back = *proposal_from(to_document(p));
  EXPECT_EQ(back.pass, p.pass);
  EXPECT_EQ(back.parent, 4);
  EXPECT_EQ(back.rival, 3);
  EXPECT_EQ(back.inspiration, 2);
  EXPECT_EQ(back.lane, 1);
  EXPECT_EQ(back.generator, 5);
}

TEST(RunDocuments, VerdictComesBack) {
  VerdictRecord v;
  v.outcome = "passed";
  v.time_ns = 0.1;
  v.speedup = Speedup{1.5, 1.25, 1.75, "onednn"};
  v.better = true;
  v.modelled_ns = 12.5;
  v.roofline = Roofline{"memory", 0.5};
  v.tuning = "BM=3 1 ms\n";
  v.evidence = "not \xff utf8";
  VerdictRecord back = *verdict_from(to_document(v));
  EXPECT_EQ(back.time_ns, 0.1);
  EXPECT_EQ(back.speedup->against, "onednn");
  EXPECT_EQ(back.speedup->hi, 1.75);
  EXPECT_FALSE(back.over_rival);
  EXPECT_EQ(back.modelled_ns, 12.5);
  EXPECT_TRUE(back.better);
  EXPECT_FALSE(back.accepted);
  EXPECT_EQ(back.roofline->bound, "memory");
  EXPECT_EQ(back.tuning, v.tuning);
}

TEST(RunDocuments, SettingComesBack) {
  SettingRecord setting;
  setting.baselines = {{"onednn", 1500}, {"torch", 2500.5}};
  setting.operators = {{"MatMul (mm)", 1000}};
  setting.notes = {"a note"};
  SettingRecord back = *setting_from(to_document(setting));
  ASSERT_EQ(back.baselines.size(), 2u);
  EXPECT_EQ(back.baselines[1].ns, 2500.5);
  EXPECT_EQ(back.operators.at(0).name, "MatMul (mm)");
  EXPECT_EQ(back.notes, setting.notes);
}

TEST(RunDocuments, ProfileKeepsEveryByte) {
  Profile p;
  p.facts.push_back({"ipc", 1.5, "", "perf"});
  p.texts.push_back({"remarks", "not \xff utf8", "gcc"});
  p.pictures.push_back({"flame", "hotspot", std::string("\x89PNG\0\xff", 6)});
  p.absent.push_back("perf: none");
  Profile back = *profile_from(to_document(p));
  EXPECT_EQ(back.facts[0].value, 1.5);
  EXPECT_EQ(back.texts[0].text, "not \xff utf8");
  EXPECT_EQ(back.pictures[0].png, p.pictures[0].png);
  EXPECT_EQ(back.absent[0], "perf: none");
}

TEST(RunDocuments, OptionsComeBack) {
  ForgeOptions o;
  o.session.task = "core/relu";
  o.session.sandbox = SandboxTier::kLandlock;
  o.session.baselines = {"none"};
  o.generators = {"mailbox:x", "builtin"};
  o.budget = *parse_budget("60s,2usd");
  o.target = 2;
  o.without = {"example"};
  ForgeOptions back = *options_from(to_document(o));
  EXPECT_EQ(back.session.task, "core/relu");
  EXPECT_EQ(back.session.sandbox, SandboxTier::kLandlock);
  EXPECT_EQ(back.generators, o.generators);
  EXPECT_EQ(back.budget.seconds, 60);
  EXPECT_EQ(back.target, 2);
  EXPECT_EQ(back.without, o.without);
}

TEST(RunDocuments, DamagedOnesAreErrors) {
  for (const char* bad : {"", "{", "[]", "null", "{\"pass\":3}"}) {
    EXPECT_FALSE(proposal_from(bad)) << bad;
    EXPECT_FALSE(verdict_from(bad)) << bad;
    EXPECT_FALSE(generation_from(bad)) << bad;
    EXPECT_FALSE(advice_from(bad)) << bad;
    EXPECT_FALSE(options_from(bad)) << bad;
    EXPECT_FALSE(setting_from(bad)) << bad;
    EXPECT_FALSE(profile_from(bad)) << bad;
  }
}

}  // namespace
}  // namespace kforge
