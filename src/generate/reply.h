// From a model's reply to a program. The contract the prompt states: prose first, then one fenced block per
// file with "path=NAME" behind the fence, or search/replace edits. What models really send is forgiven where
// it is clear what they meant; where it is not, the message says what was wrong.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/failure.h"
#include "generate/candidate.h"
#include "generate/reply_status.h"

namespace kforge {

struct ReplyRules {
  std::vector<std::string> extensions;  // of the platform, main file's first: ".cc"
  std::vector<std::string> entries;     // functions one of which the program must have; empty: not looked at
  const Candidate* base = nullptr;      // what edits change; null: edits cannot be used
  struct Known {
    const Candidate* program;
    int attempt;
  };
  std::vector<Known> known;  // programs already tried: sending one again is no progress
  bool truncated = false;    // the reply ran into its limit: an unclosed block is not a program
};

struct ParsedReply {
  std::expected<Candidate, NoProgram> program = std::unexpected(NoProgram{});
  ReplyStatus status = ReplyStatus::kOk;
  std::string change;                   // the line "CHANGE: ..." of the reply, else its first sentence
  std::optional<bool> followed_advice;  // the line "FOLLOWED: yes" or "no"; nothing: it does not say
  std::vector<std::string> remarks;     // what was forgiven
};

inline constexpr std::size_t kMostReplyBytes = 16 << 20;

ParsedReply parse_reply(std::string_view reply, const ReplyRules& rules);

}  // namespace kforge
