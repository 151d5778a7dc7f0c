// One timed judging: its programs, rounds and findings. Internal to the timed gates:
//   timed_start.cc   the candidate, the process for second calls, opponents
//   timed_rounds.cc  what each round asks, and what the samples say
//   timed_later.cc   calls beyond those that were timed: late ones, and within a batch
//   timed_again.cc   timed calls made again in a process that knows nothing of the first
//   timed_oracle.cc  the true results of timed calls: from the oracle, or from a baseline
//   timed_slope.cc   the clock of programs that are started anew
//   timed_limits.cc  threads, clocks, and what is too fast to be true
#pragma once

#include <map>
#include <random>
#include <span>

#include "oracle/row_slice.h"
#include "verify/fingerprint.h"
#include "verify/timed_gates.h"

namespace kforge {

// One timed call of the candidate, to be made again elsewhere.
struct RememberedCall {
  int round = 0;
  InputChoice params, choice;
  Fingerprint values;
  bool probe = false;                       // its inputs were changed while earlier calls of its batch ran
  bool drawn = false;                       // to be compared with the oracle
  std::optional<Fingerprint> witness = {};  // what a baseline gave on the same values
};

class TimedJudge {
 public:
  TimedJudge(const JudgeContext& context, const ProgramSpec& candidate,
             const std::vector<Opponent>& opponents, const TimedOptions& options, Peaks& peaks,
             Verdict& verdict)
      : context_(context),
        task_(*context.task),
        candidate_(candidate),
        opponents_(opponents),
        options_(options),
        peaks_(peaks),
        verdict_(verdict),
        random_(options.seed),
        positions_(task_, mix_seed(options.seed, 77)) {}

  Result<TimedFindings> judge();

 private:
  struct CheckedOpponent {
    std::unique_ptr<ProgramProcess> process;
    double call_ns = 0;
    std::string refused;
  };
  using OpponentThreads = std::pair<const Opponent*, int>;
  struct PresentOpponent {
    const Opponent* opponent = nullptr;
    std::string what;  // with the thread count used
    int better_threads = 0;
  };

  Result<void> start_candidate();
  Result<bool> start_fresh();
  Result<void> start_echo();
  Result<void> start_all_opponents(bool small);
  Result<void> start(const std::vector<OpponentThreads>& wanted);
  Result<void> try_opponents();
  Result<void> check_opponents();
  Result<CheckedOpponent> check_opponent(const Opponent& opponent, int threads);
  Result<std::optional<Failure>> call_once_more(CheckedOpponent& opponent);
  Result<bool> quicker_alone(CheckedOpponent& one, CheckedOpponent& all);
  int first_threads(const Opponent& opponent) const;
  bool may_gain_from_one_thread(const Opponent& opponent) const;
  void run_rounds();
  void after_batch(const BatchView& batch);
  bool enough();
  RoundPlan fresh_plan();
  RoundPlan plan(int round);
  void repeat_nearly(RoundPlan& plan);
  InputChoice next_params();
  void summarise();
  Result<void> make_late_calls();
  Result<void> judge_look_ahead();
  void judge_threads();
  Result<void> judge_timed_calls();
  void choose_repeated();
  std::size_t calls_together(std::size_t first) const;
  Result<void> begin_as_checks_do(const RememberedCall& first);
  Result<void> repeat_calls(std::span<const RememberedCall> calls);
  Rejected differs(const RememberedCall& call, const std::string& difference) const;
  bool oracle_is_slow() const;
  int oracle_calls() const;
  void keep_witness();
  Result<void> ask_witness();
  Result<bool> oracle_wanted(const RememberedCall& call, const TensorMemory& outputs, std::uint32_t slot);
  Result<void> find_slice();
  Result<bool> rows_differ(const RememberedCall& call, const TensorMemory& outputs, std::uint32_t slot);
  Result<void> judge_by_oracle(const RememberedCall& call, const TensorMemory& outputs, std::uint32_t slot);
  Result<void> judge_clock();
  Result<void> judge_slope();
  Step<double> bend_of_slope(ProgramProcess& process);
  Result<void> judge_floor();
  Result<void> judge_suspicious();
  Result<double> measure_again(int samples, std::vector<Sample>& taken);

  const JudgeContext& context_;
  const BoundTask& task_;
  const ProgramSpec& candidate_;
  const std::vector<Opponent>& opponents_;
  TimedOptions options_;
  Peaks& peaks_;
  Verdict& verdict_;
  std::mt19937_64 random_;
  SamplePositions positions_;
  ExpectedValues expected_;

  std::optional<InputMemory> memory_;
  std::vector<std::unique_ptr<ProgramProcess>> owned_;  // the candidate first
  std::optional<InputMemory> fresh_memory_;
  std::unique_ptr<ProgramProcess> own_echo_;            // when nobody keeps it
  std::unique_ptr<ProgramProcess>* echo_ = &own_echo_;  // tells what a message takes
  std::map<OpponentThreads, std::expected<std::unique_ptr<ProgramProcess>, Failure>>
      started_;                              // before their turn
  std::unique_ptr<ProgramProcess> fresh_;    // a second process of the candidate: makes timed calls again
  std::unique_ptr<ProgramProcess> witness_;  // a baseline, kept when the others have ended; may be null
  std::vector<PresentOpponent> present_;     // of owned_[i + 1]
  std::vector<TimedProgram> timed_;
  std::vector<RememberedCall> remembered_, repeated_;  // of all rounds; those that are made again
  std::optional<RowSlice> slice_;                      // where the oracle is slow and there is no witness
  double slice_seconds_ = 0;                           // spent on it
  int index_questions_ = 3;                            // to the oracle, where indices differ from run to run
  int compared_with_oracle_ = 0, compared_with_baseline_ = 0, compared_in_rows_ = 0;
  int rounds_before_ = 0;       // of the same process, in an earlier run of rounds
  std::size_t calls_made_ = 0;  // in the timed process, in rounds
  InputChoice round_params_;
  InputChoice plain_params_;                  // the last that were not varied
  std::optional<std::uint32_t> varied_slot_;  // of this round's plan: nearly the inputs of an earlier call
  TimedFindings findings_;
};

}  // namespace kforge
