#include "base/gate.h"

#include <gtest/gtest.h>

#include "base/outcome.h"

namespace kforge {
namespace {

TEST(Gate, NamesReadBack) {
  for (const GateRow& row : all_gates()) {
    EXPECT_EQ(gate_from_name(row.name), row.gate) << row.name << " stands twice in the table";
    EXPECT_EQ(&row_of(row.gate), &row);
    EXPECT_NE(gate_meaning(row.name), "") << row.name;
  }
  EXPECT_EQ(gate_from_name("pearly"), std::nullopt);
  EXPECT_EQ(gate_meaning("pearly"), "");
}

// The order judged: the rows of a stage stand together, the stages in their order.
TEST(Gate, StagesStandInOrder) {
  auto gates = all_gates();
  for (std::size_t i = 1; i < gates.size(); ++i)
    EXPECT_LE(gates[i - 1].stage, gates[i].stage) << gates[i].name;
}

TEST(Gate, SymbolsAreReadOnNativePlatformsOnly) {
  EXPECT_TRUE(judged_on(GateStage::kSymbols, "native"));
  EXPECT_FALSE(judged_on(GateStage::kSymbols, "device"));
  EXPECT_TRUE(judged_on(GateStage::kValues, "device"));
}

TEST(Gate, WhatDiffersOrDoesNotApplySaysHowOrWhy) {
  for (const GateRow& row : all_gates())
    for (const char* kind : {"native", "device", "command"}) {
      const KindRule& rule = rule_of(row, kind);
      EXPECT_EQ(rule.how == KindRule::How::kApplied, rule.note.empty()) << row.name << " on " << kind;
      if (std::string_view(kind) == "native" && row.gate < Gate::kRaces) {  // the rest is the emulator's
        EXPECT_EQ(rule.how, KindRule::How::kApplied) << row.name;
      }
    }
}

TEST(Outcome, NamesReadBack) {
  for (int i = 0; i <= static_cast<int>(Outcome::kOverturned); ++i) {
    auto outcome = static_cast<Outcome>(i);
    EXPECT_EQ(outcome_from_name(name_of(outcome)), outcome);
  }
  EXPECT_EQ(outcome_from_name("splendid"), std::nullopt);
}

}  // namespace
}  // namespace kforge
