#include "serve/job_book.h"

#include <algorithm>

#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "generate/candidate.h"
#include "store/runs.h"

namespace kforge::serve {
namespace {

// The run that writes into `folder`: it is known from its first moment on.
std::string run_in(const fs::path& folder) {
  constexpr std::size_t kNewest = 50;
  auto records = RunRecords::open();
  if (!records) return "";
  auto runs = (*records)->latest("", kNewest);
  if (!runs) return "";
  for (const StoredRun& run : *runs) {
    const auto out = run.options.find("out");
    if (out == run.options.end()) continue;
    const auto* path = std::get_if<std::string>(&out->second);
    if (path && fs::path(*path) == folder) return run.id;
  }
  return "";
}

// What came of it, from the document it printed.
void tell_outcome(JobView& job, const Result<mcp::OwnProgram::Answer>& answer) {
  if (!answer) {
    job.outcome = answer.error().text();
    return;
  }
  const mcp::Json& document = answer->document;
  auto word = [&](const char* name) {
    return document.contains(name) && document[name].is_string() ? document[name].get<std::string>()
                                                                 : std::string();
  };
  if (word("schema") == "kforge.error/1")
    job.outcome = word("error") + (word("remedy").empty() ? "" : "; " + word("remedy"));
  else if (job.kind == "forge")
    job.outcome = word("headline");
  else
    job.outcome = word("outcome");
  if (!document.is_object()) job.outcome = std::string(trimmed(answer->out)).substr(0, 400);
  if (job.kind == "forge" && !word("run").empty()) job.run = word("run");
  if (job.kind == "eval") job.result = word("id");
  if (job.outcome.empty()) job.outcome = fmt::format("it ended with exit code {}", answer->exit_code);
}

}  // namespace

JobBook::JobBook(const mcp::OwnProgram& program, const fs::path& home)
    : jobs_(program, home / "jobs"), home_(fs::absolute(home)) {}

Result<std::string> JobBook::start(const JobOrder& order) {
  Entry entry{order.kind, order.task, order.platform, utc_now(), ""};
  std::error_code error;
  std::lock_guard lock(mutex_);
  entry.number = entries_.size();
  entry.folder = home_ / "pages" / new_result_id();
  fs::create_directories(entry.folder, error);
  if (error) return fail("cannot make {}: {}", entry.folder.string(), error.message());
  std::vector<std::string> words = {order.kind, order.task};
  words.insert(words.end(), order.arguments.begin(), order.arguments.end());
  words.insert(words.end(), {"--on=" + order.platform, "-v", "--json"});
  if (order.kind == "eval") {
    KF_TRY_VOID(write_file_atomic(entry.folder / order.kernel_file, order.kernel, 0600));
    if (!order.plan.empty()) KF_TRY_VOID(write_file_atomic(entry.folder / kPlanFile, order.plan, 0600));
    words.push_back("--kernel=" + (entry.folder / order.kernel_file).string());
  } else {
    words.push_back("--out=" + (entry.folder / "run").string());
  }
  KF_TRY(std::string id, jobs_.start(std::move(words)));
  entries_[id] = std::move(entry);
  return id;
}

Result<void> JobBook::stop(const std::string& id) {
  KF_TRY_VOID(jobs_.stop(id));
  std::lock_guard lock(mutex_);
  entries_[id].stopping = true;
  return {};
}

Result<JobView> JobBook::look(const std::string& id, Entry& entry) {
  KF_TRY(auto status, jobs_.wait(id, 0, {}));
  JobView job{id, entry.kind, entry.task, entry.platform, entry.started_at};
  job.ended = status.ended;
  job.stopping = entry.stopping;
  job.seconds = status.seconds;
  job.doing = status.ended ? "" : printable(status.doing);
  if (entry.kind == "forge" && entry.run.empty()) entry.run = run_in(entry.folder / "run");
  job.run = entry.run;
  if (status.answer) tell_outcome(job, *status.answer);
  return job;
}

Result<JobView> JobBook::view(const std::string& id) {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return fail("There is no job {} of this server", id);
  return look(id, found->second);
}

std::string JobBook::job_of(const std::string& run) {
  std::lock_guard lock(mutex_);
  for (auto& [id, entry] : entries_) {
    if (entry.kind == "forge" && entry.run.empty()) entry.run = run_in(entry.folder / "run");
    if (entry.run == run) return id;
  }
  return "";
}

std::vector<JobView> JobBook::all() {
  std::lock_guard lock(mutex_);
  std::vector<std::pair<std::size_t, JobView>> numbered;
  for (auto& [id, entry] : entries_)
    if (auto job = look(id, entry)) numbered.emplace_back(entry.number, std::move(*job));
  std::ranges::sort(numbered, std::greater<>(), [](const auto& one) { return one.first; });
  std::vector<JobView> jobs;
  for (auto& [number, job] : numbered) jobs.push_back(std::move(job));
  return jobs;
}

Json to_json(const JobView& job) {
  auto or_nothing = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  return {{"id", job.id},
          {"kind", job.kind},
          {"task", job.task},
          {"platform", job.platform},
          {"started_at", job.started_at},
          {"state", job.state()},
          {"seconds", job.seconds},
          {"run", or_nothing(job.run)},
          {"result", or_nothing(job.result)},
          {"outcome", or_nothing(job.outcome)},
          {"doing", or_nothing(job.doing)}};
}

}  // namespace kforge::serve
