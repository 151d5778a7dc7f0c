// Runs in which the assistant is the generation agent: `kforge forge` asks a mailbox, and what the assistant
// hands over are the replies. So its attempts have the gates, the decisions and the records of every run, and
// it is told what any other agent is told.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "mcp/jobs.h"
#include "mcp/letters.h"

namespace kforge::mcp {

class WritingSessions {
 public:
  // Both outlive it.
  WritingSessions(const OwnProgram& program, Jobs& jobs) : program_(&program), jobs_(&jobs) {}

  // `forge`: the words of the command, without who writes and where. The id is that of a job.
  Result<std::string> start(std::vector<std::string> forge, const std::string& platform);
  // What is wrong where the run did not begin: a task that is not there. Looks for a moment only.
  std::optional<ToolResult> refused_at_once(const std::string& session, const ToolCall& call);
  // What programs of this session are written for. An Error: there is no such session.
  Result<std::string> platform(const std::string& session);

  struct Handed {
    std::vector<SourceFile> files;
    std::string change;  // what is new, in a line
    std::optional<bool> followed_advice;
  };
  // Hands the program over as the next attempt, waits until it was judged, and tells what was found and what
  // is asked for next.
  ToolResult evaluate(const std::string& session, const Handed& program, const ToolCall& call);

 private:
  struct Session {
    std::string platform;
    Letters letters;
    // Two calls at once answer one question each.
    std::shared_ptr<std::mutex> answering = std::make_shared<std::mutex>();
  };
  Result<Session> find(const std::string& session);
  Result<std::optional<Question>> wait_for_question(const std::string& session, const Letters& letters,
                                                    const ToolCall& call);
  ToolResult told(const std::string& session, const Question& answered, const std::optional<Question>& next,
                  const Letters& letters, const ToolCall& call);

  const OwnProgram* program_;
  Jobs* jobs_;
  std::mutex mutex_;
  std::map<std::string, Session> sessions_;
};

}  // namespace kforge::mcp
