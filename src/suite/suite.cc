#include "suite/suite.h"

#include <sched.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "report/speedup_text.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;

// The processors of one of several jobs: none is shared, so that programs timed at the same moment meet each
// other in the memory only. Where there are fewer processors than jobs nothing is divided.
void keep_to_share(int job, int jobs) {
  cpu_set_t allowed, own;
  if (jobs < 2 || ::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  const int share = CPU_COUNT(&allowed) / jobs;
  if (share == 0) return;
  CPU_ZERO(&own);
  for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    if (seen / share == job) CPU_SET(cpu, &own);
    ++seen;
  }
  ::sched_setaffinity(0, sizeof own, &own);  // of this thread, and of the processes that it starts
}

std::string bar_of(double fraction) {
  constexpr int kWidth = 24;
  const int full = static_cast<int>(fraction * kWidth);
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(kWidth - full), '.') + "]";
}

class SuiteRun {
 public:
  SuiteRun(const SuiteFolder& folder, const SuiteHost& host)
      : folder_(folder), host_(host), paint_(terminal_style().colour) {
    std::vector<SuiteItem> all = items_of(folder.plan());
    of_ = all.size();
    for (SuiteItem& item : all) {
      if (folder.record(item))
        ++done_;
      else
        left_.push_back(std::move(item));
    }
    begun_with_ = done_;
  }

  Result<bool> run() {
    if (done_ > 0 && !left_.empty())
      host_.view->line(fmt::format("suite {} goes on: {} of {} are done", folder_.plan().id, done_, of_));
    {
      std::jthread ticker([this](const std::stop_token& over) { tick(over); });
      std::vector<std::jthread> jobs;
      const int count =
          std::clamp<int>(host_.jobs, 1, static_cast<int>(std::max<std::size_t>(left_.size(), 1)));
      for (int job = 0; job < count; ++job)
        jobs.emplace_back([this, job, count] {
          keep_to_share(job, count);
          work();
        });
    }
    host_.view->finish();
    if (error_) return std::unexpected(*error_);
    return !interrupted_;
  }

 private:
  void work() {
    for (;;) {
      std::size_t index = 0;
      {
        std::lock_guard lock(mutex_);
        if (next_ == left_.size() || error_ || interrupted_) return;
        if (host_.stop.stop_requested()) return void(interrupted_ = true);
        index = next_++;
        working_on_ = left_[index].task.name;
      }
      auto record = host_.run(left_[index], host_.stop);
      std::lock_guard lock(mutex_);
      auto saved = record && *record ? folder_.save(left_[index], **record) : Result<void>{};
      if (!record) error_ = record.error();
      if (!saved) error_ = saved.error();
      if (record && !*record) interrupted_ = true;
      if (error_ || !*record) return;
      host_.view->line(task_line(**record, ++done_, of_, paint_));
    }
  }

  // Once a second: a time that is left must be seen to shrink.
  void tick(const std::stop_token& over) {
    std::unique_lock lock(mutex_);
    while (!over.stop_requested()) {
      host_.view->stage(status());
      ticked_.wait_for(lock, over, std::chrono::seconds(1), [] { return false; });
    }
  }

  std::string status() const {
    const double fraction = of_ ? static_cast<double>(done_) / static_cast<double>(of_) : 1;
    std::string text = fmt::format("{} {} of {}", bar_of(fraction), done_, of_);
    if (done_ > begun_with_) {
      const double each = seconds_since(start_) / static_cast<double>(done_ - begun_with_);
      text += fmt::format(", about {} left", readable_duration(each * static_cast<double>(of_ - done_)));
    }
    return text + "  " + working_on_;
  }

  const SuiteFolder& folder_;
  const SuiteHost& host_;
  const Paint paint_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable_any ticked_;
  std::vector<SuiteItem> left_;
  std::size_t next_ = 0, done_ = 0, begun_with_ = 0, of_ = 0;
  std::string working_on_;
  std::optional<Error> error_;
  bool interrupted_ = false;
};

}  // namespace

std::string readable_duration(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole < 120) return fmt::format("{} s", whole);
  if (whole < 7200) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string task_line(const SuiteRecord& r, std::size_t number, std::size_t of, const Paint& paint) {
  std::string what;
  if (r.verified()) {
    what = paint.good("verified");
    if (r.speedup) what += fmt::format("  {} over {}", interval_text(*r.speedup), r.speedup->against);
    if (!r.speedup) what += r.modelled_ns ? ", not timed" : "";
  } else {
    const std::string_view reason = std::string_view(r.reason).substr(0, r.reason.find('\n'));
    what = r.state == TaskState::kError ? paint.bad("error") : paint.warn("not verified");
    if (!r.outcome.empty()) what += "  " + r.outcome + (r.gate.empty() ? "" : " (" + r.gate + ")");
    what += fmt::format("  {}", printable(reason.substr(0, 100)));
  }
  if (!r.flagged().empty()) what += "  " + paint.warn(r.flagged());
  std::string where = r.platform + (r.variant.empty() ? "" : " " + r.variant);
  return fmt::format("{:>{}}/{}  {}  {}  {}  {}", number, std::to_string(of).size(), of, printable(r.task),
                     where, what, readable_duration(r.seconds));
}

Result<bool> run_suite(const SuiteFolder& folder, const SuiteHost& host) {
  return SuiteRun(folder, host).run();
}

}  // namespace kforge
