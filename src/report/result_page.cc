// One verdict as one page: pages/result.mustache says what stands where.
#include <algorithm>

#include "base/readable.h"
#include "report/model_inputs.h"
#include "report/page_parts.h"
#include "report/roofline_plot.h"
#include "report/run_evidence.h"
#include "report/speedup_text.h"
#include "task/task.h"

namespace kforge {
namespace {

constexpr std::size_t kRefusalBytes = 24'000;

std::string verdict_words(const EvalReport& r) {
  if (!r.passed()) {
    std::string words(name_of(r.outcome));
    std::ranges::replace(words, '_', ' ');
    return fmt::format("Not verified: {}{}", words, r.gate ? fmt::format(" at gate {}", r.gate_name()) : "");
  }
  const std::string limits = cautions(r).empty() ? "" : "; " + cautions(r);
  if (!r.time_ns) return "Verified, not timed" + limits;
  if (!r.speedup) return "Verified; there was no baseline to compare with" + limits;
  return fmt::format("Verified: {} over {}{}", interval_text(*r.speedup), rival_text(r), limits);
}

}  // namespace

PageData page_data(const EvalReport& r, const Candidate* program) {
  PageRoom room;
  PageData data;
  data.text("title", fmt::format("{} on {}", short_line(r.task), short_line(r.platform)));
  data.text("about",
            fmt::format("result {}, {}; shapes {}{}; precision {}", r.result_id, r.created_at, r.shape_set,
                        r.cases.size() == 1 && !r.cases[0].dims.empty()
                            ? " (" + short_line(dims_text(r.cases[0].dims)) + ")"
                            : "",
                        r.precision));
  data.text("words", verdict_words(r)).text("verdict", verdict_class(r)).rows("headline_facts");
  auto line = [&](const std::string& text) { data.row("headline_facts", PageData().text("line", text)); };
  if (r.time_ns)
    line(fmt::format("{} [{}, {}] per call, {} cache, {}.", readable_time(r.time_ns->value),
                     readable_time(r.time_ns->lo), readable_time(r.time_ns->hi), r.cache, threads_text(r)));
  if (r.modelled)
    line(fmt::format("Modelled {} by {}: a modelled figure ranks programs and is no time.",
                     readable_time(r.modelled->ns), short_line(r.modelled->model)));
  if (r.modelled)
    for (const std::string& one : model_input_lines(r, true)) line(short_line(one, 500));
  if (r.roofline && r.achieved)
    line(fmt::format("{:.0f} % of the {} bound: {:.1f} GFLOP/s, {:.1f} GB/s.", 100 * r.roofline->fraction,
                     r.roofline->bound, r.achieved->gflops, r.achieved->gbytes_s));
  data.markup("refusal", r.passed() ? Markup() : room.text(r.reason, kRefusalBytes));
  add_contenders(data, r);
  const auto roofline = roofline_plot(r);
  data.markup("roofline", roofline ? both_widths(*roofline) : Markup());
  data.rows("files");
  if (program) add_program(data, *program, room);
  add_gates(data, r, room);
  add_how(data, r);
  data.rows("notes");
  for (std::size_t i = 0; i < std::min<std::size_t>(r.notes.size(), 100); ++i)
    data.row("notes", PageData().text("line", short_line(r.notes[i], 400)));
  data.text("commands", fmt::format("kforge recheck {0}\nkforge show {0} --explain", r.result_id));
  return data;
}

Result<std::string> to_html(const EvalReport& report, const Candidate* program) {
  return render_page("result", page_data(report, program));
}

}  // namespace kforge
