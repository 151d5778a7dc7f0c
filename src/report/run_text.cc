// A run on the terminal and as report.md.
#include <fmt/ranges.h>

#include <algorithm>

#include "report/absent_baselines.h"
#include "report/attempt_text.h"
#include "report/model_inputs.h"
#include "report/relative_path.h"
#include "report/run_report.h"
#include "report/speedup_chain.h"
#include "report/speedup_text.h"
#include "task/task.h"

namespace kforge {
namespace {

std::string first_line(std::string_view text) { return printable(text.substr(0, text.find('\n'))); }

std::string shorten(std::string text, std::size_t width) {
  if (text.size() <= width) return text;
  std::size_t end = width > 3 ? width - 3 : width;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // not inside a character
  return text.substr(0, end) + "...";
}

std::string markdown_cell(std::string_view text) {
  std::string cell;
  for (char c : first_line(text)) {
    if (c == '|' || c == '`' || c == '<' || c == '*' || c == '_' || c == '[') cell += '\\';
    cell += c;
  }
  return cell;
}

}  // namespace

std::string attempt_line(const Attempt& a, const Paint& paint, std::size_t width) {
  static const AttemptJudgement kNotJudged;
  const AttemptJudgement& found = a.judgement ? *a.judgement : kNotJudged;
  const std::size_t outcome_width = width < 100 ? 18 : 24;
  std::string padded = fmt::format("{:<{}}", shorten(outcome_text(a), outcome_width), outcome_width);
  if (a.accepted()) padded = paint.good(padded);
  if (a.failed()) padded = paint.bad(padded);
  std::string speed = found.speedup       ? interval_text(*found.speedup)
                      : found.time_ns     ? readable_time(*found.time_ns)
                      : found.modelled_ns ? "modelled " + readable_time(*found.modelled_ns)
                                          : "";
  std::string head = fmt::format("{:>4}  {:<12}  ", a.number, name_of(a.proposal.pass));
  std::size_t used = head.size() + outcome_width + 2 + 20 + 2;
  std::string_view said = a.failed() && !found.reason.empty() ? std::string_view(found.reason) : a.change();
  constexpr std::size_t kLeast = 16;  // less than that says nothing: a line of its own
  std::string words = first_line(said);
  if (width >= used + kLeast)
    return fmt::format("{}{}  {:<20}  {}", head, padded, speed, shorten(words, width - used));
  std::string line = fmt::format("{}{}", head, padded) + (speed.empty() ? "" : "\n      " + speed);
  return line + (words.empty() ? "" : "\n      " + shorten(words, width - 6));
}

namespace {

// "  label      text", further lines below the text.
class RunScreen {
 public:
  explicit RunScreen(const TerminalStyle& style) : width_(static_cast<std::size_t>(style.width)) {}

  std::string text;

  void row(std::string label, std::string_view content) {
    for (const std::string& line : wrap(content, width_ - kIndent)) {
      text += fmt::format("  {:<11}{}\n", label, line);
      label.clear();
    }
  }
  void plain(std::string_view content) {
    for (const std::string& line : wrap(content, width_)) text += line + "\n";
  }

 private:
  static constexpr std::size_t kIndent = 13;
  std::size_t width_;
};

void explain_attempt(RunScreen& screen, const Attempt& attempt, const Paint& paint,
                     const TerminalStyle& style) {
  auto faint = [&](std::string_view words) {
    for (const std::string& line : wrap(words, static_cast<std::size_t>(style.width) - 8))
      screen.text += paint.faint("        " + line) + "\n";
  };
  for (const std::string& line : failure_lines(attempt))
    for (const std::string& part : wrap(line, static_cast<std::size_t>(style.width) - 8))
      screen.text += "        " + part + "\n";
  if (attempt.advice)
    faint(fmt::format("{}: {} ({}); {}", printable(attempt.advice->by), first_line(attempt.advice->change),
                      first_line(attempt.advice->bottleneck), kept_words(attempt)));
  if (attempt.generation && !attempt.generation->rationale.empty() && attempt.accepted())
    faint(printable(attempt.generation->rationale));
  if (attempt.judgement) screen.text += paint.faint(printable(attempt.judgement->tuning));
}

void show_best(RunScreen& screen, const RunReport& r, const EvalReport& best, const TerminalStyle& style) {
  if (best.modelled)
    screen.row("modelled", fmt::format("{} by {}: ranks programs, is no time",
                                       readable_time(best.modelled->ns), printable(best.modelled->model)));
  if (best.modelled)
    for (const std::string& line : model_input_lines(best, false)) screen.row("", printable(line));
  if (best.time_ns)
    screen.row("time", fmt::format("{}  [{}, {}] per call, {} cache, {}", readable_time(best.time_ns->value),
                                   readable_time(best.time_ns->lo), readable_time(best.time_ns->hi),
                                   best.cache, threads_text(best)));
  for (const BaselineResult& baseline : best.baselines) {
    std::string what = baseline.what;
    for (Gate gate : baseline.failed_gates) what += fmt::format(" (fails gate {})", name_of(gate));
    screen.row(
        "baseline",
        fmt::format("{:<14} {}{}  {}", baseline.name, readable_time(baseline.time_ns.value),
                    baseline.speedup ? fmt::format("  {}x", readable_ratio(baseline.speedup->value)) : "",
                    what));
  }
  for (const std::string& line : absent_lines(best.absent_baselines, style.explain))
    screen.row("absent", line);
  if (best.cases.size() == 1 && !best.cases[0].dims.empty())
    screen.row("shapes", fmt::format("{}{}", printable(dims_text(best.cases[0].dims)),
                                     best.general ? "" : " (the kernel is made for these)"));
  screen.row("precision",
             fmt::format("{}{}{}", r.precision,
                         best.arithmetic.empty() ? "" : ", arithmetic " + printable(best.arithmetic),
                         best.error && best.error->max_rel <= 1
                             ? fmt::format(", error {} of the scale", readable_error(best.error->max_rel))
                             : ""));
  if (best.roofline)
    screen.row("roofline",
               fmt::format("{:.0f} % of the {} bound", 100 * best.roofline->fraction, best.roofline->bound));
  if (algebraic(best))
    screen.row("algebraic", "it does less arithmetic than the graph says (fewer products, the same result)");
}

void show_files(RunScreen& screen, const RunReport& r, const TerminalStyle& style) {
  std::error_code ignored;
  std::filesystem::path here = std::filesystem::current_path(ignored);
  if (r.folder_missing)
    screen.row("folder", fmt::format("{} is gone; `kforge show {} --out DIR` writes it again",
                                     shell_quoted(r.folder), r.id));
  if (!r.kernel_path.empty() && !r.folder_missing) {
    screen.text += fmt::format("\n  kernel     {}\n", shell_quoted(relative_to(r.kernel_path, here)));
    std::string usage = usage_of_kernel(r, here, static_cast<std::size_t>(style.width) - 4);
    for (std::string_view line : lines_of(usage))
      screen.text += fmt::format("  {}\n", std::string(line).insert(9, "  "));
  }
  if (!r.folder.empty() && !r.folder_missing)
    screen.row("report", fmt::format("{}, report.md, report.json",
                                     shell_quoted(relative_to(r.folder + "/report.html", here))));
  screen.row("run", fmt::format("{}   (kforge show {})", r.id, r.id));
}

}  // namespace

std::string to_terminal(const RunReport& r, const TerminalStyle& style) {
  Paint paint(style.colour);
  auto width = static_cast<std::size_t>(style.width);
  RunScreen screen(style);
  std::string task = printable(r.task);
  std::string where = fmt::format("{}  on {}  {}  run {}", r.shape_set, r.platform, r.precision, r.id);
  screen.text = paint.strong(task) + (task.size() + 2 + where.size() <= width ? "  " : "\n  ") + where + "\n";
  for (const std::string& line : wrap(fmt::format("generator {}, analyst {}, strategy {}",
                                                  printable(fmt::format("{}", fmt::join(r.generators, ", "))),
                                                  printable(r.analyst), r.strategy),
                                      width))
    screen.text += paint.faint(line) + "\n";
  if (style.explain || !r.best) {
    screen.text += "\n";
    for (const Attempt& attempt : r.attempts) {
      screen.text += attempt_line(attempt, paint, width) + "\n";
      if (style.explain) explain_attempt(screen, attempt, paint, style);
    }
  }
  screen.text += "\n";
  if (r.found()) {
    const EvalReport& best = *r.best;
    // Only what was shown to be faster looks like a win.
    const bool faster = best.speedup && shown_by(*best.speedup) == Shown::kFaster;
    const bool good = (faster || !best.speedup) && !best.vacuous();
    screen.text += "  " + (good ? paint.good("VERIFIED")
                                : paint.warn(best.vacuous() ? "VERIFIED ON A VACUOUS TASK" : "VERIFIED"));
    if (best.speedup)
      screen.text +=
          fmt::format("  {}  over {}", paint.strong(interval_text(*best.speedup)), rival_text(best));
    if (!best.time_ns) screen.text += ", not timed";
    for (const std::string& line : wrap(cautions(best), width - 12))
      screen.text += "\n            " + paint.warn(line);
    screen.text += "\n\n";
    show_best(screen, r, best, style);
  } else if (r.state == RunState::kFinished) {
    screen.text += "  " + paint.bad("NO VERIFIED PROGRAM") + "\n\n";
  } else {
    screen.text += fmt::format("  {}\n\n", paint.warn("not finished: kforge forge --resume " + r.id));
  }
  std::string search =
      fmt::format("{} attempt{}{}", r.attempts.size(), r.attempts.size() == 1 ? "" : "s",
                  r.best_attempt ? fmt::format(", the best is number {}", *r.best_attempt) : "");
  if (auto seconds = r.seconds.find("search"); seconds != r.seconds.end())
    search += fmt::format(", {:.1f} s", seconds->second);
  if (r.ended) search += "; " + ended_words(r.ended);
  screen.row("search", search);
  if (r.state != RunState::kFinished && r.found()) screen.row("go on", "kforge forge --resume " + r.id);
  screen.row("cost", cost_text(r.cost));
  for (const std::string& note : r.notes) screen.row("note", printable(note));
  show_files(screen, r, style);
  return std::move(screen.text);
}

namespace {

std::string speedup_curve(const RunReport& r) {
  if (!r.best_attempt) return "";
  auto chain = speedup_chain(r.attempts, *r.best_attempt, r.best ? r.best->speedup : std::nullopt);
  if (chain.empty()) return "";
  bool confirmed = r.best && r.best->speedup;
  std::string text = fmt::format(
      "\n## Speedup by attempt\n\nThe attempts that became the best, each by its paired ratio over the best "
      "before it{}; 95 % intervals.\n\n```\n",
      confirmed ? fmt::format(", chained so that the last is the confirmed figure over {}",
                              r.best->speedup->against)
                : ", as a multiple of the first");
  double most = 0;
  for (const ChainStep& step : chain) most = std::max(most, step.speedup.value);
  for (const ChainStep& step : chain)
    text += fmt::format("{:>4} {:<50} {:.2f}x [{:.2f}, {:.2f}]\n", step.attempt,
                        std::string(static_cast<std::size_t>(50 * step.speedup.value / most), '#'),
                        step.speedup.value, step.speedup.lo, step.speedup.hi);
  return text + "```\n";
}

// The reason of every failed attempt as it was given to its author.
std::string failed_attempts(const RunReport& r) {
  std::string text;
  for (const Attempt& attempt : r.attempts) {
    std::vector<std::string> lines = failure_lines(attempt);
    if (lines.empty()) continue;
    std::size_t longest = 2;  // of runs of backticks inside: the fence is longer
    for (const std::string& line : lines)
      for (std::size_t at = line.find('`'); at != line.npos; at = line.find('`', at)) {
        std::size_t end = std::min(line.find_first_not_of('`', at), line.size());
        longest = std::max(longest, end - at);
        at = end;
      }
    std::string fence(longest + 1, '`');
    text += fmt::format("\n{}: {}\n\n{}\n{}\n{}\n", attempt.number, outcome_text(attempt), fence,
                        fmt::join(lines, "\n"), fence);
  }
  return text.empty() ? "" : "\n## Why attempts failed\n" + text;
}

}  // namespace

std::string to_markdown(const RunReport& r) {
  std::string text = fmt::format("# {} on {}: run {}\n\n", r.task, r.platform, r.id);
  if (r.found()) {
    const EvalReport& best = *r.best;
    text += fmt::format("**{}**, precision {}", markdown_cell(headline_of(r)), r.precision);
    if (algebraic(best)) text += ", algebraic (it does less arithmetic than the graph says)";
    if (best.time_ns)
      text += fmt::format(", {} per call ({} cache)", readable_time(best.time_ns->value), best.cache);
    if (best.modelled)
      text += fmt::format(
          ", modelled {} by {}.\nIt was verified, not timed: a modelled figure ranks programs and is no "
          "time.\n\n",
          readable_time(best.modelled->ns), markdown_cell(best.modelled->model));
    else
      text +=
          ".\nThe figure is from a confirmation run after the search: fresh process, fresh inputs, all "
          "baselines present.\n\n";
    if (best.time_ns) text += "| contender | time | speedup of the kernel |\n|---|---|---|\n";
    if (best.time_ns) text += fmt::format("| kernel | {} | |\n", readable_time(best.time_ns->value));
    for (const BaselineResult& baseline : best.baselines)
      text += fmt::format("| {} ({}) | {} | {} |\n", baseline.name, markdown_cell(baseline.what),
                          readable_time(baseline.time_ns.value),
                          baseline.speedup ? interval_text(*baseline.speedup) : "");
    text += "\n";
  } else {
    text += fmt::format("**{}.**\n\n", headline_of(r));
  }
  text += fmt::format("Generator {}, analyst {}, strategy {}. {} attempts; {}.\n",
                      markdown_cell(fmt::format("{}", fmt::join(r.generators, ", "))),
                      markdown_cell(r.analyst), r.strategy, r.attempts.size(), ended_words(r.ended));
  if (std::string cost = cost_text(r.cost); !cost.empty()) text += "Cost: " + cost + ".\n";
  text += "\n## Attempts\n\nFigures of the search guide it; they are not results.\n\n";
  bool modelled = std::ranges::any_of(
      r.attempts, [](const Attempt& a) { return a.judgement && a.judgement->modelled_ns; });
  text += fmt::format(
      "| # | from | pass | change | outcome | {} | over what it challenged | advice: promised, measured "
      "|\n|---|---|---|---|---|---|---|---|\n",
      modelled ? "modelled" : "speedup");
  for (const Attempt& a : r.attempts) {
    static const AttemptJudgement kNotJudged;
    const AttemptJudgement& found = a.judgement ? *a.judgement : kNotJudged;
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", a.number,
                        a.proposal.parent < 0 ? "" : std::to_string(a.proposal.parent),
                        name_of(a.proposal.pass), markdown_cell(a.change()), markdown_cell(outcome_text(a)),
                        found.speedup       ? readable_ratio(found.speedup->value) + "x"
                        : found.modelled_ns ? readable_time(*found.modelled_ns)
                                            : "",
                        found.over_rival ? readable_ratio(found.over_rival->value) + "x" : "",
                        markdown_cell(advice_text(a)));
  }
  text += failed_attempts(r);
  if (!modelled) text += speedup_curve(r);
  if (std::string usage = usage_of_kernel(r, r.folder, 100); !usage.empty())
    text += "\n## Using the kernel\n\nIn this folder:\n\n```\n" + usage + "```\n";
  if (!r.notes.empty()) {
    text += "\n## Notes\n\n";
    for (const std::string& note : r.notes) text += fmt::format("- {}\n", markdown_cell(note));
  }
  return text;
}

}  // namespace kforge
