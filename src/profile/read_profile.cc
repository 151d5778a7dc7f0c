#include "profile/read_profile.h"

#include "generate/quote.h"
#include "profile/parsers.h"

namespace kforge {
namespace {

struct Form {
  std::string_view name, mark;  // the mark is somewhere in the file
  Parser parser;
};

// In this order: the first whose mark is there.
constexpr Form kForms[] = {
    {"ncu", "\"Metric Name\"", parse_ncu},
    {"ncu", "sm__throughput", parse_ncu},
    {"nsys", "\"Total Time (ns)\"", parse_nsys},
    {"nsys", "Total Time (ns)", parse_nsys},
    {"rocprof", "TotalDurationNs", parse_rocprof},
    {"rocprof", "KernelName", parse_rocprof},
    {"rocprof", "Kernel_Name", parse_rocprof},
    {"callgrind", "events: Ir", parse_callgrind},
    {"perf stat", "Performance counter stats", parse_perf_stat},
    {"perf stat", ";cycles", parse_perf_stat},
    {"perf stat", ",cycles", parse_perf_stat},
    {"perf stat", ";instructions", parse_perf_stat},
};

}  // namespace

Result<Profile> read_profile(const std::string& content, std::string_view name) {
  Findings findings;
  Said said;
  if (content.starts_with("\x89PNG")) {
    said.profiler = "picture";
    said.product = content;
    parse_png(said, findings);
    if (!findings.profile.pictures.empty()) findings.profile.pictures[0].title = single_line(name, 100);
    return std::move(findings.profile);
  }
  for (const Form& form : kForms) {
    if (content.find(form.mark) == std::string::npos) continue;
    said.profiler = form.name;
    said.out = content;
    if (!form.parser(said, findings))
      return fail(
          "{} looks like a profile of {}, but: {}", name, form.name,
          findings.profile.absent.empty() ? "nothing was found in it" : findings.profile.absent.back());
    return std::move(findings.profile);
  }
  return fail_with_remedy(
      "known are: `ncu --csv`, `nsys stats --format csv`, rocprof's results.csv and stats, `perf stat` (also "
      "-x), callgrind.out, and PNG pictures (for a model analyst)",
      fmt::format("{} is in no form that KForge reads", name));
}

}  // namespace kforge
