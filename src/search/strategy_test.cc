#include "search/strategy.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "generate/sample_attempt.h"
#include "search/plan_of.h"

namespace kforge {
namespace {

// A run in which what becomes of each proposal is scripted: 'f' failed, 'v' verified, 'b' better, 's' lost
// its race.
class ScriptedRun {
 public:
  explicit ScriptedRun(std::string_view strategy, StrategySettings settings = {}) : settings_(settings) {
    entry_ = *find_strategy(strategy);
    if (settings_.width <= 1) settings_.width = std::max(entry_->default_width, 1);
  }

  std::vector<Proposal> propose() const { return entry_->propose(history_, settings_); }

  // Judges every proposal of one round; returns them.
  std::vector<Proposal> step(std::string_view outcomes) {
    auto proposals = propose();
    for (std::size_t i = 0; i < proposals.size(); ++i) add(proposals[i], outcomes[i % outcomes.size()]);
    return proposals;
  }

  void add(const Proposal& proposal, char outcome, double speedup = 0) {
    Attempt attempt;
    attempt.proposal = proposal;
    attempt.number = static_cast<int>(history_.attempts.size()) + 1;
    judged(attempt, outcome == 'f'   ? Outcome::kCompileError
                    : outcome == 's' ? Outcome::kSlower
                                     : Outcome::kPassed);
    attempt.decision = Decision{.better = outcome == 'b', .accepted = outcome == 'b'};
    double value = speedup > 0 ? speedup : 1 + 0.1 * attempt.number;
    if (outcome != 'f') attempt.judgement->speedup = Speedup{value, value, value, "onednn"};
    history_.attempts.push_back(attempt);
  }

  const History& history() const { return history_; }
  StrategySettings& settings() { return settings_; }

 private:
  History history_;
  StrategySettings settings_;
  const StrategyEntry* entry_ = nullptr;
};

TEST(Chain, RepairsThenOptimizesThenComesBackToTheBest) {
  ScriptedRun run("chain", {.repairs = 2});
  Proposal p = run.step("f")[0];
  EXPECT_EQ(p.pass, Pass::kFunctional);
  EXPECT_EQ(p.parent, -1);
  p = run.step("b")[0];  // 2 repairs 1
  EXPECT_EQ(p.parent, 1);
  p = run.step("b")[0];  // 3 makes 2 faster
  EXPECT_EQ(p.pass, Pass::kOptimization);
  EXPECT_EQ(p.parent, 2);
  EXPECT_EQ(p.rival, 2);
  p = run.step("f")[0];  // 4 on 3 breaks
  EXPECT_EQ(p.parent, 3);
  p = run.step("f")[0];  // 5 repairs 4
  EXPECT_EQ(p.pass, Pass::kFunctional);
  EXPECT_EQ(p.parent, 4);
  EXPECT_EQ(p.rival, 3);
  p = run.step("f")[0];  // 6 repairs 5
  EXPECT_EQ(p.parent, 5);
  p = run.step("v")[0];  // two repairs failed: back to 3
  EXPECT_EQ(p.pass, Pass::kOptimization);
  EXPECT_EQ(p.parent, 3);
  p = run.step("v")[0];  // 7 was slower: 3 stays the parent
  EXPECT_EQ(p.parent, 3);
}

TEST(Chain, StartsOverWhenNothingEverWorks) {
  ScriptedRun run("chain", {.repairs = 1});
  run.step("f");
  EXPECT_EQ(run.step("f")[0].parent, 1);
  EXPECT_EQ(run.step("f")[0].parent, -1);
}

TEST(Chain, AgentsTakeTurns) {
  ScriptedRun run("chain", {.generators = 2});
  EXPECT_EQ(run.step("f")[0].generator, 0);
  EXPECT_EQ(run.step("f")[0].generator, 1);
  EXPECT_EQ(run.step("f")[0].generator, 0);
}

TEST(BestOf, LanesKnowNothingOfEachOther) {
  ScriptedRun run("best-of", {.generators = 3, .width = 3});
  auto first = run.step("bfb");
  ASSERT_EQ(first.size(), 3u);
  std::set<int> generators;
  for (const Proposal& p : first) generators.insert(p.generator);
  EXPECT_EQ(generators.size(), 3u);
  auto second = run.step("vbb");
  EXPECT_EQ(second[0].parent, 1);
  EXPECT_EQ(second[1].parent, 2);
  EXPECT_EQ(second[1].pass, Pass::kFunctional);
  EXPECT_EQ(second[2].parent, 3);
  EXPECT_EQ(second[2].rival, 3) << "its own lane's best, not the fastest of all";
  auto third = run.propose();
  EXPECT_EQ(third[0].parent, 1) << "4 was no gain";
  EXPECT_EQ(third[1].parent, 5);
  EXPECT_EQ(third[2].parent, 6);
}

TEST(Beam, DevelopsTheFastestAndMendsTheNewest) {
  ScriptedRun run("beam", {.width = 2});
  run.step("ff");                 // 1, 2
  auto repairs = run.step("bb");  // 3 repairs 2, 4 repairs 1
  EXPECT_EQ(repairs[0].parent, 2);
  EXPECT_EQ(repairs[1].parent, 1);
  auto next = run.step("fv");  // 5, 6
  EXPECT_EQ(next[0].pass, Pass::kOptimization);
  EXPECT_EQ(std::set<int>({next[0].parent, next[1].parent}), std::set<int>({3, 4}));
  auto last = run.propose();
  EXPECT_EQ(last[0].parent, 5) << "what broke is mended";
  EXPECT_EQ(last[0].rival, next[0].parent);
  EXPECT_EQ(last[1].pass, Pass::kOptimization) << "one place is left for progress";
}

TEST(Beam, GivesUpWhatCannotBeMended) {
  ScriptedRun run("beam", {.width = 1, .repairs = 1});
  run.settings().width = 1;
  run.step("f");
  EXPECT_EQ(run.step("f")[0].parent, 1);
  EXPECT_EQ(run.step("f")[0].parent, -1);
}

TEST(Tree, DraftsFirstThenOnlyKnownNodes) {
  ScriptedRun run("tree", {.width = 1, .seed = 7});
  run.settings().width = 1;
  EXPECT_EQ(run.step("b")[0].parent, -1);
  EXPECT_EQ(run.step("f")[0].parent, -1);
  for (int i = 0; i < 20; ++i) {
    Proposal p = run.step("vf")[0];
    const Attempt* parent = run.history().find(p.parent);
    ASSERT_TRUE(parent);
    EXPECT_EQ(p.pass == Pass::kOptimization, parent->verified());
    if (!parent->verified()) {
      EXPECT_EQ(run.history().children(p.parent), 1) << "a broken node is mended once";
    }
  }
}

TEST(Tree, GreedyChoiceSpreadsOverTheFastest) {
  ScriptedRun run("tree", {.width = 1, .epsilon = 0});
  run.settings().width = 1;
  run.step("b");
  run.step("b");  // 2 is the fastest by construction
  std::set<int> parents;
  for (int i = 0; i < 4; ++i) {
    Proposal p = run.propose()[0];
    run.add(p, 'v', 0.5);
    parents.insert(p.parent);
  }
  EXPECT_EQ(parents, std::set<int>({1, 2})) << "after three children the next node gets its turn";
}

TEST(Evolve, IslandsMendAloneAndMigrateTogether) {
  ScriptedRun run("evolve", {.width = 2, .migrate = 2});
  run.step("bf");                // generation 0: island 1 has nothing
  auto second = run.step("vf");  // generation 1
  EXPECT_EQ(second[0].parent, 1);
  EXPECT_EQ(second[1].parent, 2);
  auto third = run.step("vv");  // generation 2: migration
  EXPECT_EQ(third[1].pass, Pass::kOptimization);
  EXPECT_EQ(third[1].parent, 1) << "the empty island takes its neighbour's best";
  EXPECT_EQ(third[1].lane, 1);
}

// Schedules that lost a race run as well as any: something may be made from them, but nothing has to beat
// them.
TEST(EveryStrategy, GoesOnFromWhatLostARaceToo) {
  for (const StrategyEntry& entry : all_strategies()) {
    if (!entry.wide) continue;
    ScriptedRun run(entry.name, {.width = 2, .repairs = 0, .seed = 3});
    run.settings().width = 2;
    std::set<int> parents;
    for (int i = 0; i < 8; ++i)
      for (const Proposal& p : run.step("bs")) {
        parents.insert(p.parent);
        const Attempt* rival = run.history().find(p.rival);
        EXPECT_TRUE(p.rival < 0 || rival->verified()) << entry.name;
        if (i > 2) {
          EXPECT_EQ(p.pass, Pass::kOptimization) << entry.name;
        }
      }
    bool any = std::ranges::any_of(parents, [&](int number) {
      const Attempt* parent = run.history().find(number);
      return parent && !parent->verified();
    });
    EXPECT_TRUE(any) << entry.name;
  }
}

TEST(EveryStrategy, IsAPureFunctionOfTheHistory) {
  for (const StrategyEntry& entry : all_strategies()) {
    ScriptedRun a(entry.name, {.generators = 2, .seed = 99}), b(entry.name, {.generators = 2, .seed = 99});
    for (int i = 0; i < 12; ++i) {
      auto first = a.step("fbvbf"), second = b.step("fbvbf");
      ASSERT_EQ(first.size(), second.size()) << entry.name;
      for (std::size_t k = 0; k < first.size(); ++k) {
        EXPECT_EQ(first[k].parent, second[k].parent) << entry.name;
        EXPECT_EQ(first[k].generator, second[k].generator) << entry.name;
        EXPECT_EQ(first[k].inspiration, second[k].inspiration) << entry.name;
      }
    }
  }
}

TEST(EveryStrategy, ProposesOnlyWhatMakesSense) {
  for (const StrategyEntry& entry : all_strategies()) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      ScriptedRun run(entry.name, {.generators = 2, .repairs = 2, .seed = seed});
      for (int i = 0; i < 10; ++i) {
        auto proposals = run.propose();
        ASSERT_FALSE(proposals.empty());
        for (const Proposal& p : proposals) {
          const Attempt* parent = run.history().find(p.parent);
          EXPECT_EQ(parent != nullptr, p.parent >= 0) << entry.name;
          if (p.pass == Pass::kOptimization) {
            EXPECT_TRUE(parent && parent->verified()) << entry.name;
          }
          if (const Attempt* rival = run.history().find(p.rival)) {
            EXPECT_TRUE(rival->verified()) << entry.name;
          }
          EXPECT_LT(p.generator, 2);
        }
        for (std::size_t k = 0; k < proposals.size(); ++k)
          run.add(proposals[k], "fvbf"[(seed + k + static_cast<std::size_t>(i)) % 4]);
      }
    }
  }
}

TEST(PlanOf, ShowsTheParentTheBestAndEverything) {
  ScriptedRun run("chain");
  run.step("b");
  run.step("f");
  Proposal p = run.propose()[0];
  Plan plan = plan_of(run.history(), p, 3);
  EXPECT_EQ(plan.attempt, 3);
  EXPECT_EQ(plan.pass, Pass::kFunctional);
  ASSERT_TRUE(plan.last && plan.best);
  EXPECT_EQ(plan.last->number, 2);
  EXPECT_EQ(plan.best->number, 1);
  EXPECT_EQ(plan.history.size(), 2u);
  EXPECT_FALSE(plan.instruction.empty());
}

// What the agents would be asked, but for the number of the attempt.
std::set<std::string> asked(const ScriptedRun& run, std::vector<Proposal> proposals) {
  number_siblings(proposals);
  std::set<std::string> all;
  for (const Proposal& p : proposals) {
    Plan plan = plan_of(run.history(), p, 0);
    all.insert(fmt::format("{} from {}: {} {}", name_of(plan.pass), p.parent, plan.instruction, plan.apart));
  }
  return all;
}

TEST(EveryStrategy, NoTwoOfABatchAreAskedTheSame) {
  for (const StrategyEntry& entry : all_strategies()) {
    ScriptedRun run(entry.name, {.width = 7, .repairs = 1, .seed = 5});
    for (const char* outcomes : {"f", "fb", "b", "vb", "f", "v"}) {
      auto proposals = run.propose();
      EXPECT_EQ(asked(run, proposals).size(), proposals.size()) << entry.name << " before " << outcomes;
      run.step(outcomes);
    }
  }
}

TEST(PlanOf, TheBestIsThatOfTheRunInEveryLane) {
  ScriptedRun run("best-of", {.width = 2});
  run.step("b");
  run.add({.pass = Pass::kOptimization, .parent = 1, .rival = 1, .lane = 0}, 'b', 3);
  for (const Proposal& p : run.propose()) {
    Plan plan = plan_of(run.history(), p, 9);
    ASSERT_TRUE(plan.best);
    EXPECT_EQ(plan.best->number, 3);
  }
}

TEST(PlanOf, AnInspirationIsAPlaceOfItsOwn) {
  ScriptedRun run("chain");
  run.step("b");
  run.step("b");
  Plan plan = plan_of(run.history(), {.pass = Pass::kOptimization, .parent = 2, .inspiration = 1}, 3);
  ASSERT_TRUE(plan.inspiration && plan.best);
  EXPECT_EQ(plan.inspiration->number, 1);
  EXPECT_EQ(plan.best->number, 2);
  EXPECT_NE(plan.instruction.find("take what is good in attempt 1"), std::string::npos);
}

TEST(History, AsItWasWhenAnAttemptWasPlanned) {
  ScriptedRun run("chain");
  run.step("b");
  run.step("b");
  run.step("f");
  EXPECT_EQ(run.history().up_to(2).attempts.size(), 2u);
  EXPECT_EQ(run.history().up_to(2).best()->number, 2);
  EXPECT_EQ(run.history().up_to(-1).attempts.size(), 0u);
  EXPECT_EQ(run.history().up_to(std::nullopt).attempts.size(), 3u);
}

TEST(FindStrategy, NamesWhatThereIs) {
  auto missing = find_strategy("chian");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().remedy.find("best-of"), std::string::npos);
}

}  // namespace
}  // namespace kforge
