// A run as one page: pages/run.mustache says what stands where.
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/readable.h"
#include "plot/tree.h"
#include "plot/treemap.h"
#include "report/attempt_text.h"
#include "report/highlight.h"
#include "report/model_inputs.h"
#include "report/page_parts.h"
#include "report/roofline_plot.h"
#include "report/run_evidence.h"
#include "report/speedup_text.h"
#include "task/task.h"

namespace kforge {
namespace {

constexpr std::size_t kMostAttempts = 200;    // in tables and trees
constexpr std::size_t kSaidBytes = 20'000;    // of one prompt or reply
constexpr std::size_t kSaidRoom = 400'000;    // of all of them
constexpr std::size_t kReasonBytes = 6'000;   // why one attempt failed
constexpr std::size_t kReasonRoom = 120'000;  // why all of them did
constexpr std::size_t kDiffBytes = 120'000;

// All attempts, or the path of the best, what was accepted and the first of the others.
std::vector<const Attempt*> shown_attempts(const RunReport& r) {
  std::set<int> chosen;
  for (const Attempt* a : line_of_descent(r.attempts, r.best_attempt))
    if (chosen.size() < kMostAttempts) chosen.insert(a->number);
  for (bool accepted : {true, false})
    for (const Attempt& a : r.attempts)
      if (chosen.size() < kMostAttempts && a.accepted() == accepted) chosen.insert(a.number);
  std::vector<const Attempt*> shown;
  for (const Attempt& a : r.attempts)
    if (chosen.contains(a.number)) shown.push_back(&a);
  return shown;
}

std::string figure_of(const Attempt& a) {
  if (!a.judgement) return "";
  if (a.judgement->speedup) return readable_ratio(a.judgement->speedup->value) + "x";
  if (a.judgement->time_ns) return readable_time(*a.judgement->time_ns);
  return a.judgement->modelled_ns ? "modelled " + readable_time(*a.judgement->modelled_ns) : "";
}

Tone tone_of(const RunReport& r, const Attempt& a) {
  if (r.best_attempt == a.number) return Tone::kBest;
  if (a.failed()) return Tone::kBad;
  return a.accepted() ? Tone::kGood : Tone::kFaint;
}

Markup tree_of(const RunReport& r, const std::vector<const Attempt*>& shown) {
  std::set<int> path;
  for (const Attempt* a : line_of_descent(r.attempts, r.best_attempt)) path.insert(a->number);
  TreeChart chart{"attempts by what they were made from", {}};
  for (const Attempt* a : shown)
    chart.nodes.push_back({a->number, a->proposal.parent, a->proposal.pass == Pass::kOptimization,
                           figure_of(*a), fmt::format("{}  {}", a->number, short_line(a->change(), 100)),
                           tone_of(r, *a), path.contains(a->number)});
  return both_widths(chart);
}

void add_headline(PageData& data, const RunReport& r) {
  data.text("words", headline_of(r)).rows("headline_facts");
  data.text("verdict", r.found()                        ? verdict_class(*r.best)
                       : r.state == RunState::kFinished ? "failed"
                                                        : "unfinished");
  if (!r.found()) return;
  const EvalReport& best = *r.best;
  auto line = [&](const std::string& text) { data.row("headline_facts", PageData().text("line", text)); };
  if (best.time_ns)
    line(fmt::format("{} [{}, {}] per call, {} cache, {}, precision {}.", readable_time(best.time_ns->value),
                     readable_time(best.time_ns->lo), readable_time(best.time_ns->hi), best.cache,
                     threads_text(best), r.precision));
  if (best.modelled)
    line(fmt::format("Modelled {} by {}: a modelled figure ranks programs and is no time.",
                     readable_time(best.modelled->ns), short_line(best.modelled->model)));
  if (best.modelled)
    for (const std::string& one : model_input_lines(best, true)) line(short_line(one, 500));
  if (best.roofline)
    line(fmt::format("{:.0f} % of the {} bound.", 100 * best.roofline->fraction, best.roofline->bound));
  if (algebraic(best)) line("Algebraic: it does less arithmetic than the graph says.");
  if (best.time_ns)
    line(
        "The figure is from a confirmation run after the search: fresh process, fresh inputs, all baselines "
        "present.");
}

void add_search(PageData& data, const RunReport& r, PageRoom& room) {
  auto fact = [&](std::string_view name, const std::string& value) { add_fact(data, "search", name, value); };
  fact("generator", fmt::format("{}", fmt::join(r.generators, ", ")));
  fact("analyst", r.analyst);
  fact("strategy", r.strategy);
  fact("budget", r.budget);
  fact("attempts",
       fmt::format("{}{}", r.attempts.size(),
                   r.best_attempt ? fmt::format(", the best is number {}", *r.best_attempt) : ""));
  fact("ended", ended_words(r.ended));
  fact("cost", cost_text(r.cost));
  const auto shown = shown_attempts(r);
  data.text("attempts_left_out",
            shown.size() < r.attempts.size() ? std::to_string(r.attempts.size() - shown.size()) : "");
  data.markup("tree", shown.empty() ? Markup() : tree_of(r, shown));
  data.rows("attempts").rows("failures").text("any_attempts", shown.empty() ? "" : "yes");
  PageRoom reasons(std::min(kReasonRoom, room.left()));
  for (const Attempt* a : shown) {
    const Speedup* gain = a->gain();
    data.row("attempts", PageData()
                             .text("number", std::to_string(a->number))
                             .text("from", a->proposal.parent < 0 ? "" : std::to_string(a->proposal.parent))
                             .text("pass", name_of(a->proposal.pass))
                             .text("change", short_line(a->change(), 120))
                             .text("outcome", outcome_text(*a))
                             .text("outcome_class", a->failed()     ? "failed-word"
                                                    : a->accepted() ? "accepted"
                                                                    : "soft")
                             .text("figure", figure_of(*a))
                             .text("over_rival", gain ? interval_text(*gain) : "")
                             .text("advised", a->advice ? short_line(a->advice->change, 120) : "")
                             .text("kept", short_line(advice_text(*a), 140)));
    const std::vector<std::string> lines = failure_lines(*a);
    if (!lines.empty())
      data.row("failures",
               PageData()
                   .text("number", std::to_string(a->number))
                   .text("outcome", outcome_text(*a))
                   .markup("reason", reasons.text(fmt::format("{}", fmt::join(lines, "\n")), kReasonBytes)));
  }
  room.take(reasons.used());
}

// What the best has that its parent had not, file by file; or why that is not shown.
void add_difference(PageData& data, const RunReport& r, const Attempt& best, PageRoom& room) {
  data.rows("differences").text("no_difference", "").text("parent", "");
  auto parent = std::ranges::find(r.attempts, best.proposal.parent, &Attempt::number);
  if (best.proposal.parent < 0 || parent == r.attempts.end() || !parent->program()) return;
  data.text("parent", std::to_string(parent->number));
  bool any = false;
  for (const SourceFile& file : best.program()->files) {
    auto before = std::ranges::find(parent->program()->files, file.name, &SourceFile::name);
    std::string_view old = before == parent->program()->files.end() ? std::string_view() : before->content;
    if (old == file.content) continue;
    any = true;
    auto lines = line_diff(old, file.content);
    Markup markup = lines ? diff_markup(*lines, std::min(kDiffBytes, room.left())) : Markup();
    room.take(std::min(markup.text.size(), room.left()));
    data.row("differences",
             PageData()
                 .text("file", short_line(file.name))
                 .markup("lines", std::move(markup))
                 .text("rewritten", lines ? "" : "it was written anew: hardly a line is the same"));
  }
  if (!any) data.text("no_difference", "the files are the same");
}

void add_kernel(PageData& data, const RunReport& r, PageRoom& room) {
  data.rows("files").rows("differences").text("parent", "").text("no_difference", "");
  data.text("kernel_name", "").text("rationale", "").text("author", "");
  auto best = std::ranges::find_if(r.attempts, [&](const Attempt& a) { return a.number == r.best_attempt; });
  if (best == r.attempts.end() || !best->program()) return;
  data.text("kernel_name", fmt::format("attempt {}", best->number));
  if (best->generation) {
    data.text("author", short_line(best->generation->generator));
    data.markup("rationale", room.text(best->generation->rationale, kReasonBytes));
  }
  add_program(data, *best->program(), room);
  add_difference(data, r, *best, room);
}

// The text for all calls of a role that begins each transcript is shown once.
std::string_view without_known_system(std::string_view prompt, std::string& known) {
  const std::size_t end = prompt.find("\n\n# user\n");
  if (end == prompt.npos) return prompt;
  if (prompt.substr(0, end) == known) return prompt.substr(end + 2);
  known = prompt.substr(0, end);
  return prompt;
}

std::string call_words(const StoredCall& c) {
  std::string text =
      fmt::format("{} to {}, {} tokens in", c.key.role, short_line(c.model, 60), c.input_tokens);
  if (c.cache_read_tokens > 0) text += fmt::format(" ({} from the cache)", c.cache_read_tokens);
  text += fmt::format(", {} out{}", c.output_tokens, c.estimated ? " (estimated)" : "");
  if (c.dollars) text += fmt::format(", ${:.4f}", *c.dollars);
  text += fmt::format(", {:.1f} s", c.seconds);
  if (c.state != CallState::kReceived) text += fmt::format(", {}", name_of(c.state));
  return text;
}

void add_conversation(PageData& data, const RunEvidence& evidence, PageRoom& room) {
  data.rows("exchanges")
      .text("any_exchanges", evidence.exchanges.empty() ? "" : "yes")
      .text("exchanges_left_out", "");
  PageRoom said(std::min(kSaidRoom, room.left()));
  std::map<std::string, std::string> system;  // by role: what was shown already
  std::size_t count = 0;
  for (const StoredExchange& exchange : evidence.exchanges) {
    if (++count > kMostExchanges) break;
    const StoredCall& call = exchange.call;
    std::string& known = system[call.key.role];
    std::string_view prompt = without_known_system(exchange.prompt, known);
    data.row("exchanges",
             PageData()
                 .text("attempt", std::to_string(call.key.attempt))
                 .text("call", call_words(call))
                 .text("again", prompt.size() < exchange.prompt.size() ? "yes" : "")
                 .markup("prompt", said.text(prompt, kSaidBytes))
                 .markup("reply", said.text(call.reply.empty() ? call.detail : call.reply, kSaidBytes)));
  }
  if (evidence.exchanges.size() > kMostExchanges)
    data.text("exchanges_left_out", std::to_string(evidence.exchanges.size() - kMostExchanges));
  room.take(said.used());
}

// Where the seconds of the run went; nothing while none is on record.
Markup time_map(const RunReport& r) {
  Treemap map{"where the seconds of the run went", {}};
  double attempts = 0;
  std::vector<TreemapPart> parts;
  for (const Attempt& a : r.attempts) {
    const double seconds =
        (a.generation ? a.generation->seconds : 0) + (a.judgement ? a.judgement->seconds : 0);
    attempts += seconds;
    parts.push_back(
        {fmt::format("attempt {}", a.number), fmt::format("{:.1f} s", seconds), seconds, tone_of(r, a)});
  }
  std::ranges::stable_sort(parts, std::greater{}, &TreemapPart::value);
  constexpr std::size_t kParts = 40;
  if (parts.size() > kParts) {
    double others = 0;
    for (std::size_t i = kParts; i < parts.size(); ++i) others += parts[i].value;
    parts.resize(kParts);
    parts.push_back({"other attempts", fmt::format("{:.1f} s", others), others, Tone::kFaint});
  }
  for (const auto& [name, seconds] : r.seconds)
    if (name != "search" || attempts == 0)
      parts.push_back({name, fmt::format("{:.1f} s", seconds), seconds, Tone::kThird});
  constexpr double kShown = 0.05;  // less would be drawn as "0.0 s"
  std::erase_if(parts, [](const TreemapPart& part) { return part.value < kShown; });
  if (parts.empty()) return {};
  map.parts = std::move(parts);
  return both_widths(map);
}

std::string forge_again(const RunReport& r, std::uint64_t seed) {
  std::vector<std::string> words = {"kforge", "forge",
                                    r.best && !r.best->task_path.empty() ? r.best->task_path : r.task};
  words.insert(words.end(), r.judge_arguments.begin(), r.judge_arguments.end());
  for (const auto& [option, value] :
       {std::pair<std::string, std::string>{"--generator", fmt::format("{}", fmt::join(r.generators, ","))},
        {"--analyst", r.analyst == "rules" ? "builtin" : r.analyst},
        {"--strategy", r.strategy},
        {"--budget", r.budget}})
    if (!value.empty()) words.insert(words.end(), {option, value});
  if (seed > 0 && seed <= 0x7fffffff) words.insert(words.end(), {"--seed", std::to_string(seed)});
  return fmt::format("{}", fmt::join(wrapped_command(words, 96), "\n"));
}

void add_reproduction(PageData& data, const RunReport& r, const RunEvidence& evidence, PageRoom& room) {
  std::string again = forge_again(r, evidence.seed);
  if (r.best && !r.best->result_id.empty()) again += fmt::format("\nkforge recheck {}", r.best->result_id);
  data.markup("commands", room.text(again, kReasonBytes));
  data.markup("usage", room.text(usage_of_kernel(r, r.folder, 100), kReasonBytes));
  if (r.best) add_how(data, *r.best);
  add_fact(data, "how", "seed of the search", fmt::format("{:x}", evidence.seed));
  if (evidence.peaks)
    add_fact(data, "how", "limits measured",
             fmt::format("fp32 {:.0f} GFLOP/s with {} thread{}, {}{}", evidence.peaks->fp32_gflops,
                         evidence.peaks->threads, evidence.peaks->threads == 1 ? "" : "s",
                         evidence.peaks->measured_at,
                         evidence.peaks->disturbed ? " (on a busy machine: least values)" : ""));
  data.markup("time_map", time_map(r)).rows("notes");
  for (std::size_t i = 0; i < std::min<std::size_t>(r.notes.size(), 100); ++i)
    data.row("notes", PageData().text("line", short_line(r.notes[i], 400)));
}

}  // namespace

PageData page_data(const RunReport& r, const RunEvidence& evidence) {
  PageRoom room;
  PageData data;
  data.text("title", fmt::format("{} on {}", short_line(r.task), short_line(r.platform)));
  data.text("about", fmt::format("run {}, {}; shapes {}{}; precision {}", r.id, r.created_at, r.shape_set,
                                 r.best && r.best->cases.size() == 1 && !r.best->cases[0].dims.empty()
                                     ? " (" + short_line(dims_text(r.best->cases[0].dims)) + ")"
                                     : "",
                                 r.precision));
  add_headline(data, r);
  data.text("judged", r.best ? "yes" : "");
  if (r.best) add_contenders(data, *r.best);
  if (r.best) add_gates(data, *r.best, room);
  auto roofline = roofline_plot(r, evidence);
  auto attempts = attempts_plot(r);
  auto incumbent = incumbent_plot(r);
  data.text("any_roofline", roofline || attempts ? "yes" : "");
  data.markup("roofline", roofline ? both_widths(*roofline, kHalfPixels) : Markup());
  data.markup("attempts_drawn", attempts ? both_widths(*attempts, kHalfPixels) : Markup());
  data.markup("incumbent", incumbent ? both_widths(*incumbent) : Markup());
  add_reproduction(data, r, evidence, room);
  add_kernel(data, r, room);
  add_search(data, r, room);
  data.text("profiled", evidence.profiled ? std::to_string(*evidence.profiled) : "");
  data.text("profiled_other", evidence.profiled && evidence.profiled != r.best_attempt ? "yes" : "");
  add_profile(data, evidence.profile, room);
  add_conversation(data, evidence, room);
  return data;
}

Result<std::string> to_html(const RunReport& report, const RunEvidence& evidence) {
  return render_page("run", page_data(report, evidence));
}

}  // namespace kforge
