#include "search/passes.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

constexpr Pass kF = Pass::kFunctional, kO = Pass::kOptimization;

// The table, said again in other words: state and event to what comes next.
struct Case {
  Pass pass;
  bool verified;
  int repairs;
  Event event;
  Pass next;
  From from;
  int repairs_after;
};

TEST(Passes, EveryStateAndEventLeadsWhereItShould) {
  constexpr int kLimit = 2;
  const Case cases[] = {
      // Nothing verified yet: mend, and after two failed repairs start over.
      {kF, false, 0, Event::kFailed, kF, From::kLast, 1},
      {kF, false, 1, Event::kFailed, kF, From::kLast, 2},
      {kF, false, 2, Event::kFailed, kF, From::kNothing, 0},
      {kF, false, 0, Event::kBetter, kO, From::kBest, 0},
      {kF, false, 2, Event::kBetter, kO, From::kBest, 0},
      {kF, false, 1, Event::kVerified, kO, From::kBest, 0},
      // A repair during optimization.
      {kF, true, 1, Event::kFailed, kF, From::kLast, 2},
      {kF, true, 2, Event::kFailed, kO, From::kBest, 0},
      {kF, true, 1, Event::kVerified, kO, From::kBest, 0},
      {kF, true, 1, Event::kBetter, kO, From::kBest, 0},
      // Optimization.
      {kO, true, 0, Event::kFailed, kF, From::kLast, 1},
      {kO, true, 0, Event::kVerified, kO, From::kBest, 0},
      {kO, true, 0, Event::kBetter, kO, From::kBest, 0},
  };
  for (const Case& c : cases) {
    PassState state{c.pass, From::kLast, c.repairs, c.verified};
    PassState next = after(state, c.event, kLimit);
    SCOPED_TRACE(fmt::format("pass {} verified {} repairs {} event {}", int(c.pass), c.verified, c.repairs,
                             int(c.event)));
    EXPECT_EQ(next.pass, c.next);
    EXPECT_EQ(next.from, c.from);
    EXPECT_EQ(next.repairs, c.repairs_after);
    EXPECT_EQ(next.verified, c.verified || c.event != Event::kFailed);
  }
}

TEST(Passes, ExactlyOneRowFitsEveryState) {
  for (Pass pass : {kF, kO})
    for (bool verified : {false, true})
      for (Event event : {Event::kFailed, Event::kVerified, Event::kBetter})
        for (bool left : {false, true}) {
          int fitting = 0;
          for (const Transition& row : pass_table())
            fitting += row.pass == pass && row.event == event &&
                       row.verified_before.value_or(verified) == verified &&
                       row.repairs_left.value_or(left) == left;
          EXPECT_EQ(fitting, 1) << int(pass) << verified << int(event) << left;
        }
}

TEST(Passes, NoRowOptimizesWhatIsNotVerified) {
  for (const Transition& row : pass_table()) {
    if (row.next != kO) continue;
    bool verified_after = row.event != Event::kFailed || row.verified_before.value_or(true);
    EXPECT_TRUE(verified_after);
    EXPECT_EQ(row.from, From::kBest) << "only the best is made faster";
  }
}

TEST(Passes, WithNoRepairsAllowedABrokenProgramIsLeftAtOnce) {
  PassState next = after({kO, From::kBest, 0, true}, Event::kFailed, 0);
  EXPECT_EQ(next.pass, kO);
  EXPECT_EQ(next.from, From::kBest);
}

}  // namespace
}  // namespace kforge
