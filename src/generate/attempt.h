// One attempt of a run: one record from the proposal to the decision. Its stages are filled in one after the
// other; a stage that is not there yet has not happened. The agents read it, the strategies decide by it, the
// store keeps it and the report shows it.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/failure.h"
#include "base/gate.h"
#include "base/interval.h"
#include "base/outcome.h"
#include "generate/candidate.h"
#include "generate/reply_status.h"
#include "llm/llm.h"

namespace kforge {

enum class Pass : std::uint8_t { kFunctional, kOptimization };
std::string_view name_of(Pass pass);  // "functional", "optimization"
std::optional<Pass> pass_from_name(std::string_view name);

// What is to be made next, by whom and from what.
struct Proposal {
  Pass pass = Pass::kFunctional;
  int parent = -1;       // attempt to repair or to go on from; -1: from nothing
  int rival = -1;        // verified attempt it has to beat; -1: none
  int inspiration = -1;  // another verified attempt whose ideas may be taken; -1: none
  int lane = 0;          // which of several lines of descent it belongs to
  int generator = 0;     // which of the agents given
  // Which of several that are made at once from the same place, and of how many.
  int sibling = 0, siblings = 1;
  // The last attempt that was judged when it was planned: what its agents are told ends there, also when
  // they are asked again after others of its batch were judged. -1: none was; nothing: all of them.
  std::optional<int> known;
};

// One change the performance-analysis agent recommends.
struct Advice {
  std::string bottleneck;    // "memory bandwidth"
  std::string evidence;      // the figures it rests on
  std::string change;        // one concrete instruction
  double expected_gain = 1;  // factor on the time: 1.3 is 30 % faster
  double confidence = 0.5;   // 0 to 1
  std::string tag;           // from a fixed list: "vectorize", "tile", "fuse", ...
  std::string by;            // "rules", or the model's name
  // What the roofline left when it was given, as a factor; nothing: not known.
  std::optional<double> roofline_limit;
  // Why somebody else answered than the analyst the user chose. Nothing: it was that one.
  std::optional<std::string> fallback;

  // It promises more than the same work can bring; a change that computes less may.
  bool above_roofline() const { return roofline_limit && expected_gain > 1.05 * *roofline_limit; }
};

// One call of a model, for the bill.
struct ModelCall {
  std::string role;
  int attempt = 0, ordinal = 0;
  ReplyEnd end = ReplyEnd::kComplete;
  std::string detail;
  TokenUsage usage;
  double seconds = 0;
  std::string model;
};
ModelCall call_of(const ModelRequest& request, const ModelReply& reply);

// Sum of what several calls used; dollars only when every price is known.
TokenUsage total_usage(const std::vector<ModelCall>& calls);

// What a generator gave.
struct Generation {
  std::expected<Candidate, Failure> program = std::unexpected(Failure(NoProgram{"nothing was asked"}));
  ReplyStatus status = ReplyStatus::kNoReply;
  std::string change;  // one line: what the agent says it did
  // Whether it made the change that was recommended. Nothing: no advice was given, or it is not known.
  std::optional<bool> followed_advice;
  // What was forgiven in the reply: "the block of kernel.cc was not closed".
  std::vector<std::string> remarks;
  std::string schedule;   // of the built-in generator: what makes the same program again, and its neighbours
  std::string rationale;  // of the built-in generator: why the program is made like this
  std::vector<ModelCall> calls;  // what it cost, whether or not there is a program; not stored here
  std::string generator;         // its name; "user": the program was given
  double seconds = 0;            // to make it
};

// What judging found.
struct AttemptJudgement {
  Outcome outcome = Outcome::kPassed;
  std::optional<Gate> gate;           // that refused it, where one did
  std::string reason;                 // when not passed
  Evidence evidence;                  // of the refusal
  std::optional<double> time_ns;      // when timed: guides the search, is never a result
  std::optional<double> modelled_ns;  // by the platform's cost model, where nothing is timed
  std::optional<Speedup> speedup;     // over the fastest baseline
  std::optional<double> baseline_ns;  // of that baseline, from the same rounds
  std::optional<Speedup> over_rival;  // over the attempt it had to beat
  std::optional<Speedup> over_best;   // over the best of the run so far, often the same
  std::optional<double> max_rel_error;
  std::optional<double> roofline_fraction;  // achieved / attainable
  double thread_use = 0;                    // 0: not known
  std::string tuning;                       // table of tunables tried
  std::optional<Candidate> tuned;           // the program with the best values filled in: what was judged
  std::string result;                       // id in the store; empty for one that was only raced
  double seconds = 0;                       // to judge it
  double clock = 0;                         // seconds of the run when it was judged
};

struct Decision {
  bool better = false;    // verified, and surely faster than its rival (or the first of its lane)
  bool accepted = false;  // became the best of the run
};

struct Attempt {
  int number = 0;  // 0: the program the user gave
  Proposal proposal;
  std::optional<Advice> advice;
  std::optional<Generation> generation;
  std::optional<AttemptJudgement> judgement;
  std::optional<Decision> decision;

  // What was or will be judged; null: no program came.
  const Candidate* program() const;
  std::string_view change() const;
  // It does not work. One that only lost a race does.
  bool failed() const {
    return judgement && judgement->outcome != Outcome::kPassed && judgement->outcome != Outcome::kSlower;
  }
  bool verified() const { return judgement && judgement->outcome == Outcome::kPassed; }
  bool better() const { return decision && decision->better; }
  bool accepted() const { return decision && decision->accepted; }
  // The factor over the attempt it had to beat, where it was measured.
  const Speedup* gain() const {
    return judgement && judgement->over_rival ? &*judgement->over_rival : nullptr;
  }
  // The gain that the advice can be held to: only where it was followed.
  const Speedup* gain_of_advice() const { return followed_advice() ? gain() : nullptr; }
  bool followed_advice() const { return advice && generation && generation->followed_advice == true; }
};

}  // namespace kforge
