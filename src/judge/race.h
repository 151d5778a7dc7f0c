// Racing: the inputs stay in memory and the best program stays alive, so that a challenger costs its own
// start and a few rounds. For programs KForge wrote itself: a race decides which one goes on to the gates; it
// publishes nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "build/build.h"
#include "execute/staged_program.h"
#include "judge/baselines.h"
#include "judge/workspace.h"
#include "task/inputs.h"
#include "verify/statistics.h"

namespace kforge {

struct RaceResult {
  std::optional<Failure> failure;  // crashed, or wrong already on the task's own inputs
  Interval ns;
  std::optional<Interval> ratio;  // how many times faster than the incumbent; nothing without one
  // The same by the processor time of all their threads: of no use for programs that wait or spin, but what
  // neighbours do shows less in it.
  std::optional<Interval> cpu_ratio;
  double thread_use = 0;
  int rounds = 0;
  int disturbed = 0;  // rounds in which something else had a processor that one of the two was ready to use
};

// Whether it had rounds enough for its interval to be one of 95 % (99 % where all were disturbed). A race
// that ends early, because it is lost by far or because rounds take long, may have had three: of two programs
// that are the same one in four then looks faster in all of them.
bool interval_holds(const RaceResult& result);

// One shape case.
class Race {
 public:
  Race(Workspace& workspace, std::size_t index);
  ~Race();

  // Starts the program, looks at one result, and times it against the incumbent, for as short as it takes to
  // know.
  Result<RaceResult> challenge(const Build& build);
  // Both again, in processes of their own that know nothing of the first race: where memory lies and which
  // pages it has is drawn once per process, and makes the same program a few percent faster or slower for its
  // whole life. REQUIRES: an incumbent, and a challenge that did not fail.
  Result<RaceResult> challenge_again();
  // The last challenger becomes the incumbent.
  void promote();
  // Stops whatever runs, so that something else may be timed; the next challenge starts the incumbent again.
  void pause();

 private:
  struct Runner {
    StagedProgram program;
    std::unique_ptr<ProgramProcess> process;
  };
  Result<void> open(double call_ns);
  Result<RaceResult> time_both(int least_rounds);
  Step<bool> start(Runner& runner, bool look);

  Workspace& workspace_;
  std::size_t index_;
  const BoundTask& task_;
  std::optional<JudgeContext> context_;
  std::optional<InputMemory> memory_;
  ExpectedValues expected_;
  std::vector<InputChoice> choices_;
  std::optional<Runner> incumbent_, challenger_;
};

// How many times faster one verified program is than another, over all shape cases, in processes of their
// own. What the rounds of a first race cannot say, those of a second and longer one do.
Result<Interval> race_once(Workspace& workspace, const Candidate& challenger, const Candidate& incumbent);

// The baselines against each other: what the agents are told to beat. Fastest first.
struct MeasuredBaseline {
  std::string name;
  Interval ns;
};
Result<std::vector<MeasuredBaseline>> measure_baselines(Workspace& workspace, std::size_t index,
                                                        BaselineScope scope);

}  // namespace kforge
