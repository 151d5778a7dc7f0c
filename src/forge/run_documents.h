// The JSON documents in the records of a run, to and from the structures the loop works with. A document that
// does not read back (a damaged store) is an Error that says which.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forge/forge.h"
#include "generate/generator.h"
#include "profile/profile.h"
#include "search/history.h"
#include "store/eval_report.h"

namespace kforge {

// What became of an agent's turn, without the program itself.
struct GenerationRecord {
  std::string change, extraction, generator;
  std::string no_program;       // why there is none; empty when there is one
  std::string schedule, story;  // of a built-in agent's design
  double seconds = 0;
};

// What was found about an attempt, and what was decided.
struct VerdictRecord {
  std::string outcome, gate, reason, evidence;
  std::optional<double> time_ns;
  std::optional<Speedup> speedup;     // over the fastest baseline
  std::optional<Speedup> over_rival;  // over the attempt it had to beat
  std::optional<double> modelled_ns;  // where nothing is timed
  bool better = false, accepted = false;
  std::optional<double> max_rel_error;
  std::optional<Roofline> roofline;
  double thread_use = 0;
  double seconds = 0;
  std::string tuning;           // table of tunables tried
  std::string tuned_candidate;  // hash of the program with the best values filled in
};

// What is known before the first attempt.
struct SettingRecord {
  std::vector<NamedTime> baselines;  // fastest first
  std::vector<NamedTime> operators;  // of the baseline onednn, in graph order; may be empty
  std::vector<std::string> notes;
};

std::string to_document(const Proposal& proposal);
Result<Proposal> proposal_from(std::string_view document);
std::string to_document(const GenerationRecord& record);
Result<GenerationRecord> generation_from(std::string_view document);
std::string to_document(const VerdictRecord& record);
Result<VerdictRecord> verdict_from(std::string_view document);
std::string to_document(const Advice& advice);
Result<Advice> advice_from(std::string_view document);
std::string to_document(const Profile& profile);  // CBOR: pictures are bytes
Result<Profile> profile_from(std::string_view document);
std::string to_document(const SettingRecord& setting);
Result<SettingRecord> setting_from(std::string_view document);
std::string to_document(const ForgeOptions& options);
Result<ForgeOptions> options_from(std::string_view document);

}  // namespace kforge
