// The evaluation report on one screen: the verdict, the figures that matter with what they stand on, what to
// do next.
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/readable.h"
#include "report/absent_baselines.h"
#include "report/eval_terminal.h"
#include "report/model_inputs.h"
#include "report/speedup_text.h"
#include "store/eval_report.h"
#include "store/evidence_json.h"

namespace kforge {
namespace {

constexpr std::size_t kLabel = 11;        // width of the left column
constexpr std::size_t kReasonLines = 24;  // of a compiler's log; the rest is in the store

class Screen {
 public:
  Screen(const EvalReport& report, const TerminalStyle& style)
      : report_(report),
        style_(style),
        paint_(style.colour),
        width_(static_cast<std::size_t>(std::max(style.width, 40))) {}

  std::string render() {
    heading();
    verdict();
    if (!report_.passed()) refusal();
    times();
    baselines();
    accuracy();
    profile();
    how();
    if (style_.explain) gates();
    remarks();
    next_steps();
    return std::move(text_);
  }

 private:
  void blank() { text_ += "\n"; }
  // "  label      text", further lines aligned under the text.
  void row(std::string_view label, std::string_view content) {
    bool first = true;
    for (const std::string& line : wrap(content, width_ - kLabel - 2)) {
      text_ += fmt::format("  {:<{}}{}\n", first ? label : "", kLabel, line);
      first = false;
    }
  }

  std::string dims() const {
    if (report_.cases.size() > 1) return fmt::format("{} shapes", report_.cases.size());
    std::string text;
    if (report_.cases.empty()) return text;
    for (const auto& [name, size] : report_.cases.front().dims)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, size);
    return text;
  }

  void heading() {
    std::string task = printable(report_.task), rest = report_.shape_set;
    if (std::string text = dims(); !text.empty()) rest += "  " + printable(text);
    rest += fmt::format("  on {}", report_.platform);
    bool fits = task.size() + 2 + rest.size() <= width_;
    text_ += paint_.strong(task) + (fits ? "  " + rest : "");
    if (!fits)
      for (const std::string& line : wrap(rest, width_ - 2)) text_ += "\n  " + line;
    if (!report_.kernel_path.empty())
      text_ += fmt::format("\n{}", paint_.faint(printable(report_.kernel_path)));
    text_ += "\n\n";
  }

  std::string gate_count() const {
    std::size_t counts[4] = {};
    for (const GateResult& gate : report_.gates) ++counts[static_cast<std::size_t>(gate.state)];
    std::string text;
    for (GateState state : {GateState::kPassed, GateState::kFlagged, GateState::kSkipped, GateState::kFailed})
      if (std::size_t count = counts[static_cast<std::size_t>(state)])
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name_of(state));
    return text.empty() ? "" : "gates: " + text;
  }

  void verdict() {
    std::string word(name_of(report_.outcome));
    std::replace(word.begin(), word.end(), '_', ' ');
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    text_ += "  " + (report_.passed() ? paint_.good(word) : paint_.bad(word));
    if (report_.gate) text_ += fmt::format(" at gate {}", paint_.strong(report_.gate_name()));
    std::string count = gate_count();
    std::size_t used = 2 + word.size() + (report_.gate ? 9 + report_.gate_name().size() : 0);
    if (!count.empty()) text_ += (used + 2 + count.size() <= width_ ? "  " : "\n  ") + paint_.faint(count);
    text_ += "\n";
    if (report_.passed() && report_.vacuous())
      for (const std::string& line : wrap(kVacuous, width_ - 2)) text_ += "  " + paint_.warn(line) + "\n";
    if (report_.sandbox == "none")
      text_ +=
          fmt::format("  {}\n", paint_.warn("run without a sandbox: do this only with kernels you trust"));
    blank();
  }

  void refusal() {
    auto lines = wrap(printable(report_.reason), width_ - 4);
    for (std::size_t i = 0; i < std::min(lines.size(), kReasonLines); ++i) text_ += "    " + lines[i] + "\n";
    if (lines.size() > kReasonLines)
      text_ += fmt::format(
          "    {}\n",
          paint_.faint(fmt::format("... {} more lines: kforge show {} --json", lines.size() - kReasonLines,
                                   report_.result_id.empty() ? "RESULT" : report_.result_id)));
    blank();
  }

  static std::string interval(double lo, double hi, std::string (*format)(double)) {
    return fmt::format("[{}, {}]", format(lo), format(hi));
  }
  static std::string factor(double value) { return fmt::format("{:.{}f}x", value, value < 10 ? 2 : 1); }
  static std::string speedup_text(const Speedup& s) {
    return fmt::format("{}  [{}, {}]", factor(s.value), factor(s.lo), factor(s.hi));
  }

  void times() {
    if (report_.speedup) {
      const Speedup& s = *report_.speedup;
      std::string value = fmt::format("{}  [{}, {}] over {}", factor(s.value), factor(s.lo), factor(s.hi),
                                      rival_text(report_));
      std::string among = report_.baselines.size() > 1
                              ? fmt::format("the fastest of {} baselines", report_.baselines.size())
                              : "the only baseline present";
      bool fits = kLabel + 4 + value.size() + among.size() <= width_;
      // The interval decides the colour: a speedup whose interval holds 1 is no speedup.
      text_ += fmt::format("  {:<{}}{}{}\n", "speedup", kLabel,
                           s.lo > 1   ? paint_.good(value)
                           : s.hi < 1 ? paint_.bad(value)
                                      : paint_.warn(value),
                           fits ? ", " + among : ",");
      if (!fits) row("", among);
      if (std::string words = caution(s); !words.empty()) row("", words);
      if (report_.load && report_.load->busy()) row("", report_.load->words());
    }
    if (report_.modelled)
      row("modelled", fmt::format("{}  by {}: ranks programs, is no time",
                                  readable_time(report_.modelled->ns), printable(report_.modelled->model)));
    if (report_.modelled)
      for (const std::string& line : model_input_lines(report_, false)) row("", printable(line));
    if (report_.time_ns) {
      row("time", fmt::format("{}  {} per call, {} cache, {}{}", readable_time(report_.time_ns->value),
                              interval(report_.time_ns->lo, report_.time_ns->hi, readable_time),
                              report_.cache, threads_text(report_),
                              report_.rounds ? fmt::format(", {} rounds, spread {:.1f} %", report_.rounds,
                                                           100 * report_.spread)
                                             : ""));
    } else if (!report_.time_absent_reason.empty()) {
      row("time", "not timed: " + report_.time_absent_reason);
    } else if (report_.passed() && report_.check_only) {
      row("time", "not timed (--check)");
    }
    if (report_.cases.size() > 1)
      for (const ShapeResult& shape : report_.cases) {
        std::string text;
        for (const auto& [name, size] : shape.dims) text += fmt::format("{}={} ", name, size);
        if (shape.modelled_ns) text += " modelled " + readable_time(*shape.modelled_ns);
        if (shape.time_ns) text += " " + readable_time(shape.time_ns->value);
        if (shape.speedup) text += "  " + speedup_text(*shape.speedup);
        row("", text);
      }
  }

  void baselines() {
    if (report_.baselines.empty() && report_.absent_baselines.empty()) return;
    std::vector<std::vector<std::string>> rows;
    for (const BaselineResult& baseline : report_.baselines) {
      std::string what = baseline.what;
      for (Gate gate : baseline.failed_gates) what += fmt::format(" (fails gate {})", name_of(gate));
      rows.push_back({baseline.name, readable_time(baseline.time_ns.value),
                      baseline.speedup ? factor(baseline.speedup->value) : "", what});
    }
    if (!rows.empty()) {
      std::string text = fitted_table(rows, "lrr", width_ - kLabel - 2);
      bool first = true;
      std::size_t at = 0;
      for (std::size_t end; (end = text.find('\n', at)) != std::string::npos; at = end + 1, first = false)
        text_ += fmt::format("  {:<{}}{}\n", first ? "baselines" : "", kLabel, text.substr(at, end - at));
    }
    bool first = rows.empty();
    for (const std::string& line : absent_lines(report_.absent_baselines, style_.explain)) {
      row(first ? "baselines" : "", line);
      first = false;
    }
  }

  static std::string of_bound_text(double ratio) {
    if (ratio >= 1e300) return "no error is allowed";
    return ratio <= 1 ? readable_error(ratio) + " of its bound"
                      : fmt::format("{:.3g} times its bound", ratio);
  }

  void accuracy() {
    if (!report_.error) return;
    const ErrorFigures& e = *report_.error;
    // Where all values are nearly zero, their scale says nothing.
    std::string scale = e.max_rel <= 1 ? readable_error(e.max_rel) + " of the scale, " : "";
    std::string text =
        fmt::format("{}: largest error {}{} absolute, norm {}; {} at worst", report_.precision, scale,
                    readable_error(e.max_abs), readable_error(e.rel_norm), of_bound_text(e.of_bound));
    if (!report_.arithmetic.empty()) text += "; declares " + printable(report_.arithmetic);
    row("accuracy", text);
    if (report_.kernelbench)
      row("", fmt::format("KernelBench's own criterion: {} ({})",
                          report_.kernelbench->passed ? "passed" : "not passed", report_.kernelbench->what));
  }

  void profile() {
    if (report_.roofline && report_.achieved) {
      const Roofline& r = *report_.roofline;
      row("roofline", fmt::format("{:.0f} % of the {} bound ({:.1f} GF/s, {:.1f} GB/s)", 100 * r.fraction,
                                  r.bound, report_.achieved->gflops, report_.achieved->gbytes_s));
    }
    std::vector<std::string> parts;
    if (report_.peak_memory_bytes)
      parts.push_back(
          fmt::format("peak memory {}", readable_bytes(static_cast<double>(report_.peak_memory_bytes))));
    if (report_.thread_use > 0)
      parts.push_back(fmt::format("threads {:.0f} % busy", 100 * report_.thread_use));
    if (report_.setup)
      parts.push_back(fmt::format("set-up {} and {}, outside the timed calls",
                                  readable_time(report_.setup->ns),
                                  readable_bytes(static_cast<double>(report_.setup->bytes))));
    if (!parts.empty()) row("resources", fmt::format("{}", fmt::join(parts, "; ")));
  }

  void how() {
    std::vector<std::string> parts;
    if (report_.build)
      parts.push_back(fmt::format("built in {:.2f} s{}{}", report_.build->seconds,
                                  report_.build->march.empty() ? "" : " for " + report_.build->march,
                                  report_.build->from_cache ? " (from the cache)" : ""));
    if (report_.passed()) parts.push_back(report_.general ? "any shape" : "fixed shape");
    if (!report_.sandbox.empty()) parts.push_back("sandbox " + report_.sandbox);
    if (report_.libraries_allowed) parts.push_back("library calls allowed: ranked apart");
    if (!report_.flags.empty()) parts.push_back(fmt::format("flags: {}", fmt::join(report_.flags, ", ")));
    if (!parts.empty()) row("how", fmt::format("{}", fmt::join(parts, "; ")));
    if (report_.device.emulated)
      row("device",
          fmt::format("{}, by {}", printable(report_.device.name), printable(report_.device.driver)));
    if (!report_.machine_text.empty()) row("machine", report_.machine_text);
  }

  void gates() {
    blank();
    for (const GateResult& gate : report_.gates) {
      std::string state(name_of(gate.state));
      std::string painted = gate.state == GateState::kPassed   ? paint_.good(state)
                            : gate.state == GateState::kFailed ? paint_.bad(state)
                                                               : paint_.warn(state);
      std::string first =
          fmt::format("  {:<15}{}{}", name_of(gate.gate), painted, std::string(9 - state.size(), ' '));
      auto lines = wrap(printable(gate.summary), width_ - 26);
      if (lines.empty()) lines.emplace_back();
      for (std::size_t i = 0; i < lines.size(); ++i)
        text_ += (i ? std::string(26, ' ') : first) + lines[i] + "\n";
      if (!is_empty(gate.evidence))
        for (const std::string& line : wrap(printable(evidence_text(gate.evidence)), width_ - 26))
          text_ += std::string(26, ' ') + paint_.faint(line) + "\n";
    }
    std::string took;
    for (const auto& [name, seconds] : report_.seconds)
      took += fmt::format("{}{} {}", took.empty() ? "" : ", ", name, readable_time(seconds * 1e9));
    if (!took.empty()) row("took", took);
    if (report_.build && !report_.build->command.empty())
      row("compiler", printable(fmt::format("{}", fmt::join(report_.build->command, " "))));
  }

  void remarks() {
    for (std::size_t i = 0; i < report_.notes.size(); ++i)
      row(i == 0 ? "notes" : "", printable(report_.notes[i]));
  }

  void next_steps() {
    blank();
    for (std::size_t i = 0; i < report_.advice.size(); ++i)
      row(i == 0 ? "next" : "", printable(report_.advice[i]));
    if (!report_.result_id.empty())
      row("result", fmt::format("{}: kforge show {}, kforge recheck {}", report_.result_id, report_.result_id,
                                report_.result_id));
  }

  const EvalReport& report_;
  const TerminalStyle& style_;
  Paint paint_;
  std::size_t width_;
  std::string text_;
};

}  // namespace

int terminal_columns(int fd) {
  int columns = 0;
  if (const char* given = std::getenv("COLUMNS")) columns = std::atoi(given);
  winsize size{};
  if (columns <= 0 && ::ioctl(fd, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  return std::max(columns, 0);
}

TerminalStyle terminal_style() {
  TerminalStyle style;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  bool dumb = term && std::strcmp(term, "dumb") == 0;
  style.colour = ::isatty(STDOUT_FILENO) && !(no_colour && *no_colour) && !dumb;
  int columns = terminal_columns(STDOUT_FILENO);
  if (columns > 0) {
    style.width = std::clamp(columns, 40, 140);
    style.table_width = static_cast<std::size_t>(std::max(columns, 40));
  }
  return style;
}

std::string to_terminal(const EvalReport& report, const TerminalStyle& style) {
  return Screen(report, style).render();
}

}  // namespace kforge
