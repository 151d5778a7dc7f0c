// The assistant's side of a run that asks a mailbox (llm/mailbox.h): which question is open, and its reply.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "generate/candidate.h"

namespace kforge::mcp {

struct Question {
  int attempt = 0, ordinal = 0;  // ordinal above 0: what was sent for this attempt was not taken
  std::string stem;              // of its files

  bool operator==(const Question&) const = default;
};

class Letters {
 public:
  explicit Letters(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The newest question that has no reply; nothing: the run is judging, or has ended.
  std::optional<Question> open() const;
  // What is asked, without what was said before it.
  std::string text_of(const Question& question) const;
  // An Error also where it has a reply already.
  Result<void> answer(const Question& question, const std::string& reply) const;

 private:
  std::filesystem::path folder_;
};

// A program as a model would reply with it. `change`: what is new in it, in a line; may be empty.
std::string reply_with(const std::vector<SourceFile>& files, const std::string& change,
                       std::optional<bool> followed_advice);

}  // namespace kforge::mcp
