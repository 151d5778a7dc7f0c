// The generation agent: what is to be made next, to a program. Backed by a language model here; the smith is
// another.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "generate/named_time.h"
#include "generate/plan.h"
#include "llm/llm.h"
#include "machine/machine.h"
#include "platform/platform.h"
#include "task/task.h"

namespace kforge {

// What an agent is told about the setting; the same in every turn of a run. References outlive it; a null
// pointer or an empty field leaves its part of the prompt out.
struct AgentSetting {
  const BoundTask* task = nullptr;     // REQUIRED, bound to the shapes that are timed
  const Platform* platform = nullptr;  // REQUIRED
  const Machine* machine = nullptr;
  const Peaks* peaks = nullptr;
  const DeviceFacts* device = nullptr;  // of a device platform whose device is here
  int threads = 1;
  std::string precision = "fp32";  // policy's name,
  double tolerance = 5e-6;         // its tolerance,
  std::string precision_words;     // and what it says (PrecisionPolicy::what)
  bool cold = true;                // caches are flushed before each timed batch
  bool allow_libraries = false;
  bool deterministic = false;
  std::vector<std::string> compiler_line;  // as it will be run: Build::command of any earlier build
  std::string flag_set;                    // "avx512"
  std::vector<NamedTime> baselines;        // fastest first
  std::vector<NamedTime> operator_times;   // of one baseline, operator by operator, where known
  std::string operator_times_of;           // that baseline
  std::string roofline_bound;              // RooflinePosition::bound and bound_ns
  double roofline_ns = 0;
  std::set<std::string> without;       // blocks that are switched off, see kPromptBlocks
  std::size_t feedback_bytes = 6'000;  // at most so much of what went wrong
};

// Blocks that --without can name.
inline constexpr std::string_view kPromptBlocks[] = {
    "notes",      // the platform's notes.md
    "example",    // the single worked example
    "machine",    // instruction set, caches, measured peaks
    "target",     // baselines and roofline
    "operators",  // per-operator times of a baseline
    "history",    // the table of changes tried
    "best",       // the best source so far, when it is not the last
    "runner_up",  // a program that looked faster than the best and was not kept
    "tuning",     // values of its tunables that were tried, with their times
    "feedback",   // what was wrong with the last program (only that it failed is said)
    "advice",     // the analyst's recommendation
    "profile",    // what profilers saw
    "assembly",   // the hot loop as compiled
    "reference",  // a kernel for another platform
};
// An Error names the word that is no block, with the nearest one.
Result<void> check_blocks(const std::set<std::string>& without);

// What the loop needs to know of a generator to treat it rightly.
struct GeneratorTraits {
  bool raced = false;     // its programs are raced against the best first, and judged only when they win
  bool paid = false;      // each attempt may cost money: without a budget it gets a number of attempts
  bool prompted = false;  // reads prompts: what is only said there need not be measured for others
  bool repairs = false;   // can mend a program that failed; others only go on from one that works
  bool local = false;     // works on the cores of this machine: never beside a measurement
};

class Generator {
 public:
  virtual ~Generator() = default;
  virtual std::string name() const = 0;
  virtual GeneratorTraits traits() const = 0;
  // A reply without a usable program is a NoProgram inside the Generation; an Error is the service's or ours.
  virtual Result<Generation> generate(const Plan& plan, const AgentSetting& context,
                                      const ReplyWatch& watch) = 0;

  // The kinds of change (Advice::tag) it can still make to an attempt, most promising first, so that advice
  // can be followed; empty: it does not say.
  virtual std::vector<std::string> kinds_of_change(const Attempt& /*attempt*/) { return {}; }

  // For generators that learn from run to run: the family of problems under which what won is remembered (""
  // remembers nothing), and what won there before.
  virtual std::string family() const { return ""; }
  virtual void start_from(std::string /*schedule*/) {}
  // A resumed run tells what earlier attempts were made of.
  virtual void recall(const Attempt& /*attempt*/) {}
};

// Asks a model. One turn is one request as a rule; a truncated reply is continued, a prompt that is too long
// is asked again with less in it, an empty or broken one once more. Each request has its own ordinal, in
// order, so that a client that remembers replies by (role, attempt, ordinal) answers a resumed run with what
// it received before.
class ModelGenerator : public Generator {
 public:
  explicit ModelGenerator(ModelClient& model) : model_(&model) {}
  std::string name() const override { return model_->name(); }
  GeneratorTraits traits() const override { return {.paid = true, .prompted = true, .repairs = true}; }
  Result<Generation> generate(const Plan& plan, const AgentSetting& context,
                              const ReplyWatch& watch) override;

 private:
  ModelClient* model_;
};

}  // namespace kforge
