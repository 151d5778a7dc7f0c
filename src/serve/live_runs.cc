#include "serve/live_runs.h"

#include <algorithm>

#include "base/files.h"
#include "base/readable.h"
#include "forge/budget.h"
#include "forge/forge.h"
#include "forge/option_fields.h"
#include "report/page_room.h"
#include "report/run_evidence.h"
#include "store/live_status.h"
#include "suite/run_list.h"

namespace kforge::serve {
namespace {

std::string seconds_words(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

// What the records alone tell, of a run that says nothing itself.
std::string stage_from(const RunProgress& progress) {
  if (!progress.prepared) return "preparing: expected values, baselines, limits of the machine";
  if (!progress.current) return progress.judged > 0 ? "confirming" : "planning";
  return fmt::format("attempt {}: {}", *progress.current, progress.written ? "judging" : "writing");
}

std::string cost_words(const RunProgress& progress) {
  if (progress.calls == 0) return "no model is asked";
  std::string words = fmt::format("{} call{}, {} tokens", progress.calls, progress.calls == 1 ? "" : "s",
                                  readable_count(static_cast<double>(progress.tokens)));
  if (progress.dollars) words += fmt::format(", ${:.2f}", *progress.dollars);
  return words;
}

std::string left_words(const Budget& budget, const RunProgress& progress, double clock) {
  std::string words;
  auto add = [&](const std::string& one) { words += (words.empty() ? "" : ", ") + one; };
  if (budget.seconds) add(seconds_words(std::max(0.0, *budget.seconds - clock)));
  if (budget.attempts) add(fmt::format("{} attempts", std::max(0, *budget.attempts - progress.judged)));
  if (budget.dollars)
    add(fmt::format("${:.2f}", std::max(0.0, *budget.dollars - progress.dollars.value_or(0))));
  if (budget.tokens)
    add(readable_count(static_cast<double>(std::max<std::int64_t>(0, *budget.tokens - progress.tokens))) +
        " tokens");
  return words.empty() ? "not limited" : words;
}

}  // namespace

std::string best_words(const RunReport& report) {
  const Attempt* best = nullptr;
  for (const Attempt& attempt : report.attempts)
    if (attempt.accepted()) best = &attempt;
  if (!best) return "nothing verified yet";
  const auto& found = *best->judgement;
  std::string words = fmt::format("attempt {}", best->number);
  if (found.speedup)
    return words + fmt::format(": {}x (of the search)", readable_ratio(found.speedup->value));
  if (found.time_ns) return words + ": " + readable_time(*found.time_ns) + " (of the search)";
  return words + ": verified";
}

Result<RunAtWork> at_work(RunRecords& records, const std::string& run) {
  RunAtWork work;
  KF_TRY(work.run, records.run(run));
  work.activity = activity_of(records, work.run);
  KF_TRY(ProgressReader reader, ProgressReader::open());
  KF_TRY(work.progress, reader.run(work.run.id));
  return work;
}

void add_live_tiles(PageData& data, const RunAtWork& work) {
  const RunProgress& progress = work.progress;
  std::optional<LiveStatus> status;
  if (auto home = kforge_home()) status = live_status(*home, work.run.id);
  double clock = progress.clock;
  if (status) clock = status->clock + (status->searching ? status->age : 0);
  auto options = options_from(work.run.options);
  const Budget budget = options ? options->budget : Budget{};
  std::string stage = status && !status->stage.empty() ? status->stage : stage_from(progress);
  if (progress.current && stage.find("attempt") == stage.npos)
    stage = fmt::format("attempt {}: {}", *progress.current, stage);
  data.text("activity", name_of(work.activity));
  data.text("stage", short_line(stage)).text("detail", status ? short_line(status->detail, 80) : "");
  data.text("judged_attempts", std::to_string(progress.judged));
  data.text("spent", clock > 0 ? seconds_words(clock) : "not begun")
      .text("left", left_words(budget, progress, clock));
  data.text("cost", cost_words(progress)).text("best_so_far", work.best);
  data.text("share", budget.seconds && *budget.seconds > 0
                         ? fmt::format("{:.2f}", std::clamp(clock / *budget.seconds, 0.0, 1.0))
                         : "");
}

LiveRuns::~LiveRuns() {
  thread_.request_stop();
  wake_.notify_all();
}

std::shared_ptr<Channel> LiveRuns::watch(const std::string& run) {
  std::lock_guard lock(mutex_);
  Watched& one = watched_[run];
  auto channel = one.channel.lock();
  if (!channel) {
    channel = std::make_shared<Channel>();
    one = {channel, std::nullopt, ""};
  }
  if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { look_after(stop); });
  wake_.notify_all();
  return channel;
}

void LiveRuns::look_after(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::map<std::string, Watched> now;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, stop, [this] { return !watched_.empty(); });
      now = watched_;
    }
    for (auto& [run, watched] : now) {
      const bool goes_on = look_at(run, watched);
      std::lock_guard lock(mutex_);
      const auto place = watched_.find(run);
      if (place == watched_.end() || place->second.channel.owner_before(watched.channel) ||
          watched.channel.owner_before(place->second.channel))
        continue;  // somebody has begun to watch it anew
      if (goes_on)
        place->second = watched;
      else
        watched_.erase(place);
    }
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, every_, [] { return false; });
  }
}

bool LiveRuns::look_at(const std::string& run, Watched& watched) {
  const auto channel = watched.channel.lock();
  if (!channel) return false;
  auto records = RunRecords::open();
  if (!records) return true;  // a store that is busy is there again later
  auto work = at_work(**records, run);
  if (!work) return true;
  std::map<std::string, std::string> parts;
  // The whole report only when there is something new in it: the rest is counts.
  const auto& before = watched.progress;
  if (!before || before->judged != work->progress.judged || before->planned != work->progress.planned) {
    if (auto report = report_of(**records, run)) {
      watched.best = best_words(*report);
      if (auto html = render_page("run_search", page_data(*report, RunEvidence{})))
        parts["run-search"] = std::move(*html);
      watched.progress = work->progress;
    }
  }
  work->best = watched.best;
  PageData tiles;
  add_live_tiles(tiles, *work);
  if (auto html = render_page("serve/run_live", tiles)) parts["run-live"] = std::move(*html);
  channel->set(std::move(parts));
  if (work->under_way()) return true;
  channel->end();
  return false;
}

}  // namespace kforge::serve
