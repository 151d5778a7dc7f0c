#include "mcp/jobs.h"

#include <algorithm>

#include "base/clock.h"
#include "base/random_seed.h"

namespace kforge::mcp {
namespace {

constexpr double kLongestJob = 24 * 3600;
constexpr std::chrono::milliseconds kLookAgain{50};

}  // namespace

Result<std::string> Jobs::start(std::vector<std::string> arguments) {
  std::lock_guard lock(mutex_);
  const auto running =
      std::ranges::count_if(jobs_, [](const auto& entry) { return !entry.second->answer.has_value(); });
  if (static_cast<std::size_t>(running) >= kMost)
    return fail("{} jobs are running already, the most there may be: wait for one, or stop one", running);
  const std::string id = fmt::format("{:08x}", random_seed() & 0xffffffff);
  auto job = std::make_unique<Job>();
  for (std::string& word : arguments)
    if (const auto at = word.find(kFolder); at != std::string::npos)
      word.replace(at, std::string_view(kFolder).size(), folder(id).string());
  Job* one = job.get();
  jobs_[id] = std::move(job);
  one->thread = std::jthread([this, one, arguments](const std::stop_token& stop) {
    const ToolCall call{.stop = stop, .say = [this, one](std::string_view doing) {
                          std::lock_guard said(mutex_);
                          one->doing = doing.substr(0, kLongestStage);
                        }};
    auto answer = program_->run_for(call, arguments, kLongestJob);
    std::lock_guard ended(mutex_);
    one->seconds = seconds_since(one->started);
    one->answer = std::move(answer);
  });
  return id;
}

Result<Jobs::Job*> Jobs::find(const std::string& id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return fail("there is no job '{}' of this server", id);
  return found->second.get();
}

Result<Jobs::Status> Jobs::wait(const std::string& id, double seconds, const std::stop_token& stop) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      KF_TRY(Job * job, find(id));
      if (job->answer || seconds_since(begin) >= seconds || stop.stop_requested())
        return Status{job->answer.has_value(), job->answer ? job->seconds : seconds_since(job->started),
                      job->doing, job->answer};
    }
    std::this_thread::sleep_for(kLookAgain);
  }
}

Result<void> Jobs::stop(const std::string& id) {
  std::lock_guard lock(mutex_);
  KF_TRY(Job * job, find(id));
  job->thread.request_stop();
  return {};
}

Jobs::~Jobs() {
  for (auto& [id, job] : jobs_) job->thread.request_stop();
  for (auto& [id, job] : jobs_)
    if (job->thread.joinable()) job->thread.join();
}

}  // namespace kforge::mcp
