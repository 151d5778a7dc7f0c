#include "judge/workspace.h"

#include <algorithm>

#include "base/memory.h"
#include "base/random_seed.h"
#include "graph/opaque.h"
#include "judge/stopwatch.h"

namespace kforge {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kOracleCacheBytes = std::size_t{4} << 30;
// Computing one of them takes three to four times the tensors besides; all together this process is to stay
// below 500 MB and four times the tensors. What does not fit comes from the disk.
constexpr std::size_t kMostExpectedBytes = std::size_t{240} << 20;
constexpr milliseconds kLeastLoadLimit{2'000};  // for a sandbox on a busy machine

milliseconds call_limit(const JudgeSetup& setup, const BoundTask& task) {
  if (setup.options.call_limit_seconds > 0)
    return milliseconds(static_cast<long>(setup.options.call_limit_seconds * 1e3));
  constexpr milliseconds kMost{120'000};
  if (is_opaque(task.graph)) return kMost;  // nobody knows what it costs
  // A naive program may be a thousand times off the roofline of a small machine (20 GFLOP/s, 5 GB/s).
  double roofline_seconds = std::max(task.cost.flops / 20e9, task.cost.unfused_bytes / 5e9);
  // A command starts an interpreter and its libraries first.
  const double least_ms = setup.platform.kind == PlatformKind::kCommand ? 60e3 : 10e3;
  return milliseconds(static_cast<long>(
      std::clamp(1000 * roofline_seconds * 1e3, least_ms, static_cast<double>(kMost.count()))));
}

}  // namespace

Workspace::~Workspace() = default;

Result<std::unique_ptr<Workspace>> Workspace::open(const JudgeOptions& options, Progress& progress) {
  Stopwatch watch;
  KF_TRY(auto setup, open_setup(options));
  std::unique_ptr<Workspace> workspace(new Workspace(std::move(setup), progress));
  KF_TRY_VOID(workspace->open_files());
  workspace->open_seconds_ = watch.total();
  return workspace;
}

Result<void> Workspace::open_files() {
  KF_TRY(fs::path home, kforge_home());
  KF_TRY(in_use_, use_home(home));
  oracle_cache_.emplace(home / "cache" / "oracle", kOracleCacheBytes);
  expected_cache_.emplace(&*oracle_cache_, std::min(kMostExpectedBytes, available_memory() / 8));
  if (setup_->options.store) {
    KF_TRY(store_, Store::open());
  }
  KF_TRY(graph_files_, TempDir::create(0755));
  for (std::size_t i = 0; i < setup_->cases.size(); ++i) cases_.emplace_back().secret = random_seed();
  return {};
}

Result<std::uint64_t> Workspace::check_secret(const BoundTask& task) {
  if (store_) {
    KF_TRY(CheckSecret secret, store_->next_check_secret(task.key()));
    return secret.seed;
  }
  for (std::size_t i = 0; i < cases_.size(); ++i)
    if (&setup_->bound(i) == &task) return cases_[i].secret;
  return random_seed();
}

Result<JudgeContext> Workspace::context(const BoundTask& task, bool fresh_inputs) {
  JudgeContext context;
  context.task = &task;
  context.machine = &setup_->machine;
  context.policy = setup_->policy;
  context.threads = setup_->threads;
  context.expected_cache = &*expected_cache_;
  context.given_peaks = setup_->platform.peaks;
  context.call_limit = call_limit(*setup_, task);
  if (setup_->options.call_limit_seconds > 0)
    context.load_limit = std::clamp<milliseconds>(context.call_limit, kLeastLoadLimit, context.load_limit);
  context.deterministic = setup_->options.deterministic;
  context.progress = [this](double fraction, std::string_view detail) {
    progress_->advance(fraction, detail);
  };
  context.stop = stop_;
  context.fresh_secret = fresh_inputs;
  if (fresh_inputs) {
    context.secret = random_seed();
  } else {
    KF_TRY(context.secret, check_secret(task));
  }
  return context;
}

Result<Peaks*> Workspace::peaks() {
  if (!peaks_) {
    progress_->stage("measuring the machine's peaks");
    KF_TRY(peaks_, machine_peaks(setup_->machine, setup_->threads));
    give_peaks(setup_->platform.peaks, *peaks_);
  }
  return &*peaks_;
}

Result<RooflinePosition> Workspace::roofline(const BoundTask& task, double ns) {
  KF_TRY(const Peaks* known, peaks());
  const bool cold = setup_->options.cold;
  RooflinePosition position = roofline_position(task, setup_->machine, *known, ns, cold);
  constexpr double kMargin = 1.02;
  if (position.fraction <= kMargin || peaks_doubted_) return position;
  peaks_doubted_ = true;
  KF_TRY(peaks_, machine_peaks(setup_->machine, setup_->threads, true));
  give_peaks(setup_->platform.peaks, *peaks_);
  return roofline_position(task, setup_->machine, *peaks_, ns, cold);
}

Result<CaseBaselines*> Workspace::baselines(std::size_t index, const JudgeContext& context) {
  std::optional<CaseBaselines>& known = cases_[index].baselines;
  if (!known) {
    KF_TRY(Baselines * found, libraries(index));
    KF_TRY(known, find_case_baselines(*this, context, *oracle_cache_, *found));
  }
  return &*known;
}

Result<Baselines*> Workspace::libraries(std::size_t index) {
  std::optional<Baselines>& found = cases_[index].libraries;
  if (!found) {
    KF_TRY(found, find_libraries(*setup_, index, graph_files_.path(), BaselineScope::kAll));
  }
  return &*found;
}

Result<void> Workspace::start_baselines(std::size_t index) {
  if (cases_[index].baselines) {
    for (Opponent& one : cases_[index].baselines->present)
      if (!one.release.version.empty()) start_ahead(*setup_, index, *oracle_cache_, one.what, one.spec);
    return {};
  }
  KF_TRY(Baselines * found, libraries(index));
  for (Baseline& one : found->present) start_ahead(*setup_, index, *oracle_cache_, one.what, one.spec);
  return {};
}

Result<CaseBaselines> Workspace::quick_baselines(std::size_t index, const JudgeContext& context) {
  KF_TRY(Baselines found, find_libraries(*setup_, index, graph_files_.path(), BaselineScope::kQuickToStart));
  return find_case_baselines(*this, context, *oracle_cache_, std::move(found), BaselineScope::kQuickToStart);
}

}  // namespace kforge
