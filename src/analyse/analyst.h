// The performance-analysis agent: one program, its verdict and its profile to one recommended change.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generate/generator.h"
#include "generate/plan.h"
#include "llm/llm.h"
#include "profile/profile.h"

namespace kforge {

// The kinds of change there are; Advice::tag is one of these, and the smith's moves bear the same names.
inline constexpr std::string_view kAdviceTags[] = {
    "vectorize",         // make the hot loop use vectors, or wider ones
    "tile",              // block loops for registers or a cache level
    "parallelize",       // use the threads, balance them, keep them apart
    "unroll",            // more independent work in flight: accumulators, unrolling
    "streaming_stores",  // write past the caches
    "fuse",              // touch memory once for several operators
    "pack",              // change a layout: pack, transpose, pad
    "precision",         // cheaper arithmetic that the policy still allows
    "split_reduction",   // a long reduction in independent parts
    "algorithm",         // compute less
    "overhead",          // launches, allocations, parallel regions, page faults
};
bool is_advice_tag(std::string_view tag);

// All that is known of the program; nothing here is required (a profile made elsewhere comes alone).
struct AnalysisInput {
  const AgentSetting* setting = nullptr;  // task, platform, machine, peaks, baselines, policy
  const Attempt* program = nullptr;       // the program analysed, with its verdict
  const Attempt* best = nullptr;          // of the run so far
  const Profile* profile = nullptr;
  std::vector<const Attempt*> history;  // all, oldest first: advice with the gain that was measured
  std::optional<double> max_rel_error;  // worst error of the program, against setting->tolerance
  std::string tunables;                 // table of values tried and their times, may be empty
  int attempt = 0;                      // number of the attempt the advice is for (cassettes)
  std::vector<std::string> possible;    // tags the generator can follow; empty: any
  // Several attempts at once may go on from this program: each is to get another recommendation.
  int sibling = 0, siblings = 1;
};

struct Analysis {
  Advice advice;  // says when rules answered instead of the model
  std::vector<ModelCall> calls;
};

class Analyst {
 public:
  virtual ~Analyst() = default;
  virtual std::string name() const = 0;
  // There is always advice: with nothing known it says what to measure. An Error is the machinery's.
  virtual Result<Analysis> analyse(const AnalysisInput& input, const ReplyWatch& watch) = 0;
};

// Every rule that applies, most promising first. What was tried before and brought nothing comes last.
std::vector<Advice> rule_advice(const AnalysisInput& input);
// The one of them for this sibling: the first for the first, and so on.
Advice ranked_advice(const AnalysisInput& input);
// How much faster a program can become before it meets the roofline, doing the same work. Nothing: not known,
// or the roofline was measured on a busy machine and is not to be believed.
std::optional<double> roofline_limit(const AgentSetting* setting, const Attempt& program);

class RuleAnalyst : public Analyst {
 public:
  std::string name() const override { return "rules"; }
  Result<Analysis> analyse(const AnalysisInput& input, const ReplyWatch& watch) override;
};

// Asks a model for exactly one recommendation as JSON; a reply that is none is asked for once more, then the
// rules answer. Pictures go along when the model takes them.
class ModelAnalyst : public Analyst {
 public:
  explicit ModelAnalyst(ModelClient& model) : model_(&model) {}
  std::string name() const override { return model_->name(); }
  Result<Analysis> analyse(const AnalysisInput& input, const ReplyWatch& watch) override;

 private:
  ModelClient* model_;
};

}  // namespace kforge
