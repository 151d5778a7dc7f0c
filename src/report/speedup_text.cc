#include "report/speedup_text.h"

#include <fmt/core.h>

#include "base/readable.h"
#include "store/store.h"

namespace kforge {

std::string caution(const Speedup& s) {
  switch (shown_by(s)) {
    case Shown::kFaster:
      return "";
    case Shown::kSlower:
      return fmt::format("it is slower than {}", s.against);
    case Shown::kNoDifference:
      return "the interval holds 1: no difference was shown";
  }
  return "";
}

std::string rival_text(const EvalReport& report) {
  if (!report.speedup) return "";
  const std::string& name = report.speedup->against;
  for (const BaselineResult& baseline : report.baselines)
    if (baseline.name == name && !baseline.release.version.empty()) return to_string(name, baseline.release);
  return name;  // somebody's kernel, or several over the shapes
}

std::string cautions(const EvalReport& report) {
  std::string words = report.speedup ? caution(*report.speedup) : "";
  if (report.load && report.load->busy()) words += (words.empty() ? "" : "; ") + report.load->words();
  if (report.passed() && report.vacuous()) words += (words.empty() ? "" : "; ") + std::string(kVacuous);
  return words;
}

std::string threads_text(const EvalReport& report) {
  const char* plural = report.threads == 1 ? "" : "s";
  if (report.kernel_threads == 0 || report.kernel_threads >= report.threads)
    return fmt::format("{} thread{}", report.threads, plural);
  return fmt::format("{} of {} thread{}", report.kernel_threads, report.threads, plural);
}

std::string interval_text(const Speedup& s) {
  return fmt::format("{}x [{}, {}]", readable_ratio(s.value), readable_ratio(s.lo), readable_ratio(s.hi));
}

std::string speedup_text(const ResultRow& row) {
  if (!row.speedup) return "";
  std::string interval;
  if (row.speedup_lo && row.speedup_hi)
    interval = fmt::format(" [{}, {}]", readable_ratio(*row.speedup_lo), readable_ratio(*row.speedup_hi));
  return fmt::format("{}x{} over {}", readable_ratio(*row.speedup), interval, row.against);
}

}  // namespace kforge
