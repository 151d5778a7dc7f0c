#include "mcp/writing_sessions.h"

#include <thread>

#include "mcp/run_of_job.h"
#include "mcp/tool_words.h"
#include "mcp/tools.h"

namespace kforge::mcp {
namespace {

constexpr std::chrono::milliseconds kQuestionCheck{100};
constexpr double kFirstLook = 1;                        // seconds
constexpr const char* kLetters = "{folder}.assistant";  // beside the run's own folder

const Json* attempt_of(const Json& run, int number) {
  if (!run.is_object() || !run.contains("attempts")) return nullptr;
  for (const Json& one : run["attempts"])
    if (one.value("number", -1) == number) return &one;
  return nullptr;
}

Json picked(const Json& attempt, std::initializer_list<const char*> names) {
  Json kept = Json::object();
  for (const char* name : names)
    if (attempt.contains(name) && !attempt[name].is_null()) kept[name] = short_report(attempt[name]);
  return kept;
}

std::string place_of(const Json& attempt) {
  const int number = attempt.value("number", 0);
  if (attempt.value("accepted", false)) return fmt::format("attempt {}: the best so far", number);
  if (string_at(attempt, "outcome") != "passed") return fmt::format("attempt {}: does not count", number);
  return fmt::format("attempt {}: not surely faster than the best", number);
}

}  // namespace

Result<std::string> WritingSessions::start(std::vector<std::string> forge, const std::string& platform) {
  forge.push_back(fmt::format("--generator=mailbox:{}", kLetters));
  // Who writes decides when it is enough, not how often nothing was gained.
  for (const char* word : {"--strategy=chain", "--attempts=100000", "--patience=100000"})
    forge.emplace_back(word);
  KF_TRY(std::string id, jobs_->start(std::move(forge)));
  std::lock_guard lock(mutex_);
  sessions_.emplace(id, Session{platform, Letters(jobs_->folder(id).string() + ".assistant")});
  return id;
}

std::optional<ToolResult> WritingSessions::refused_at_once(const std::string& session, const ToolCall& call) {
  auto status = jobs_->wait(session, kFirstLook, call.stop);
  if (!status || !status->ended) return std::nullopt;
  if (!*status->answer) return tool_failure(status->answer->error().text());
  return shown(**status->answer);
}

Result<WritingSessions::Session> WritingSessions::find(const std::string& session) {
  std::lock_guard lock(mutex_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end())
    return fail("there is no session '{}' of this server: start_session opens one", session);
  return found->second;
}

Result<std::string> WritingSessions::platform(const std::string& session) {
  KF_TRY(Session found, find(session));
  return found.platform;
}

// Nothing: the run has ended, or the caller gave up.
Result<std::optional<Question>> WritingSessions::wait_for_question(const std::string& session,
                                                                   const Letters& letters,
                                                                   const ToolCall& call) {
  while (!call.stop.stop_requested()) {
    KF_TRY(Jobs::Status status, jobs_->wait(session, 0, call.stop));
    if (auto question = letters.open()) return question;
    if (status.ended) return std::nullopt;
    if (!status.doing.empty()) call.say(status.doing);
    std::this_thread::sleep_for(kQuestionCheck);
  }
  return std::nullopt;
}

ToolResult WritingSessions::evaluate(const std::string& session, const Handed& program,
                                     const ToolCall& call) {
  auto found = find(session);
  if (!found) return tool_failure(found.error().text());
  std::optional<Question> asked;
  {
    // Whoever has the turn may wait long for its question: a call that was cancelled meanwhile goes.
    std::unique_lock turn(*found->answering, std::defer_lock);
    while (!turn.try_lock()) {
      if (call.stop.stop_requested()) return tool_failure("the call was cancelled");
      std::this_thread::sleep_for(kQuestionCheck);
    }
    auto question = wait_for_question(session, found->letters, call);
    if (!question) return tool_failure(question.error().text());
    if (!*question)
      return tool_failure("the session has ended: job_status has its report, start_session opens another");
    asked = *question;
    const std::string reply = reply_with(program.files, program.change, program.followed_advice);
    if (auto sent = found->letters.answer(*asked, reply); !sent) return tool_failure(sent.error().text());
  }
  auto next = wait_for_question(session, found->letters, call);
  if (!next) return tool_failure(next.error().text());
  return told(session, *asked, *next, found->letters, call);
}

ToolResult WritingSessions::told(const std::string& session, const Question& answered,
                                 const std::optional<Question>& next, const Letters& letters,
                                 const ToolCall& call) {
  if (next && next->attempt == answered.attempt)
    return tool_failure(fmt::format("the program was not taken for attempt {}: {}", answered.attempt,
                                    letters.text_of(*next)));
  const Json run = run_document(*program_, jobs_->folder(session), call.stop);
  const Json* attempt = attempt_of(run, answered.attempt);
  if (!attempt || string_at(*attempt, "outcome").empty())
    return tool_failure("the run ended before this attempt was judged: see job_status");
  ToolResult result;
  const std::string stored = string_at(*attempt, "result");
  auto report = program_->run({"show", stored.empty() ? "none" : stored, "--json"}, call.stop, kQuick);
  if (!stored.empty() && report)
    result = shown(*report);
  else
    result.structured = picked(*attempt, {"outcome", "gate", "reason"});
  result.structured["run"] = string_at(run, "run");
  result.structured["attempt"] =
      picked(*attempt, {"number", "parent", "pass", "change", "over_best", "better", "accepted", "tuning"});
  if (next) {
    result.structured["next"] = {{"attempt", next->attempt}};
    if (const Json* open = attempt_of(run, next->attempt))
      result.structured["next"].update(picked(*open, {"pass", "parent", "advice"}));
  } else {
    result.structured["session_ended"] = string_at(run, "ended");
  }
  const std::string found = string_at(result.structured, "summary");
  std::string summary = place_of(*attempt) + (found.empty() ? "" : "; " + found);
  if (const std::string ended = string_at(run, "ended"); !next && !ended.empty())
    summary += fmt::format("; the session has ended ({}): job_status has the confirmed figure", ended);
  tell(result, summary);
  return result;
}

}  // namespace kforge::mcp
