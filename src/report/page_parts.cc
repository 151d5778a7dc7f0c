#include "report/page_parts.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/readable.h"
#include "generate/feedback.h"
#include "llm/text_safety.h"
#include "plot/bars.h"
#include "profile/profile_candidate.h"
#include "report/absent_baselines.h"
#include "report/highlight.h"
#include "report/speedup_text.h"

namespace kforge {
namespace {

constexpr std::size_t kSourceBytes = 300'000, kPlainTextBytes = 24'000, kEvidenceBytes = 6'000;
constexpr std::size_t kMostContenders = 40, kMostGates = 64, kMostFacts = 120, kMostPictures = 4;

std::string time_interval(const Interval& ns) {
  return fmt::format("{} [{}, {}]", readable_time(ns.value), readable_time(ns.lo), readable_time(ns.hi));
}

Bar bar_of(std::string label, const Interval& ns, Tone tone) {
  return {std::move(label), time_interval(ns), ns, tone};
}

std::string what_of(const BaselineResult& baseline) {
  std::string what = baseline.what;
  for (Gate gate : baseline.failed_gates) what += fmt::format(" (fails gate {})", name_of(gate));
  return what;
}

std::string kernel_words(const EvalReport& r) {
  std::string words = fmt::format("the kernel judged here, {}", threads_text(r));
  if (r.build && !r.build->march.empty()) words += ", built for " + r.build->march;
  if (r.setup)
    words += fmt::format("; set-up {} and {}, once per set of params, outside the timed calls",
                         readable_time(r.setup->ns), readable_bytes(static_cast<double>(r.setup->bytes)));
  return words;
}

void add_contender(PageData& data, std::string_view name, std::string_view what, const Interval& ns,
                   const std::optional<Speedup>& speedup) {
  data.row("rivals", PageData()
                         .text("contender", short_line(name, 80))
                         .text("what", short_line(what, 400))
                         .text("time", time_interval(ns))
                         .text("ratio", speedup ? interval_text(*speedup) : ""));
}

// The store keeps programs without the word that begins a comment.
std::string_view comment_of(const SourceFile& file, const Candidate& program) {
  if (file.name.ends_with(".py")) return "#";
  return file.name.ends_with(".f90") ? std::string_view("!") : program.comment;
}

std::string state_class(GateState state) {
  return state == GateState::kFailed ? "failed-word" : std::string(name_of(state));
}

void add_picture(PageData& data, const ProfilePicture& picture, PageRoom& room) {
  std::string encoded = base64(picture.png);
  const bool png = picture.png.starts_with("\x89PNG");
  PageData row;
  row.text("title", short_line(picture.title)).text("source", short_line(picture.source));
  if (png && room.take(encoded.size())) {
    row.text("data", encoded).text("absent", "");
  } else {
    row.text("data", "")
        .text("absent", png ? fmt::format("the picture of {} is too large for this page",
                                          readable_bytes(static_cast<double>(picture.png.size())))
                            : "the picture is no PNG");
  }
  data.row("pictures", std::move(row));
}

}  // namespace

std::string time_tick(double ns) {
  if (ns == 0) return "0";
  for (auto [unit, size] : {std::pair{"s", 1e9}, std::pair{"ms", 1e6}, std::pair{"us", 1e3}})
    if (ns >= size * 0.999) return fmt::format("{:.4g} {}", ns / size, unit);
  return fmt::format("{:.4g} ns", ns);
}

std::string verdict_class(const EvalReport& report) {
  if (!report.passed()) return "failed";
  return report.speedup ? std::string(name_of(shown_by(*report.speedup))) : "verified";
}

void add_fact(PageData& data, const std::string& list, std::string_view name, std::string_view value) {
  data.rows(list);
  if (!value.empty()) data.row(list, PageData().text("name", name).text("value", value));
}

void add_contenders(PageData& data, const EvalReport& r) {
  data.rows("rivals").text("contenders_drawn", "").rows("absent_baselines");
  for (const std::string& line : absent_lines(r.absent_baselines, true))
    data.row("absent_baselines", PageData().text("line", short_line(line, 400)));
  data.text("not_timed", r.time_ns                      ? ""
                         : r.time_absent_reason.empty() ? "nothing was timed"
                                                        : r.time_absent_reason);
  if (!r.time_ns) return;
  BarChart chart{.title = "time per call of every contender, with 95 % intervals",
                 .axis_title = "time per call (shorter is better)",
                 .tick = time_tick};
  chart.bars.push_back(bar_of("kernel", *r.time_ns, Tone::kBest));
  add_contender(data, "kernel", kernel_words(r), *r.time_ns, std::nullopt);
  std::vector<const BaselineResult*> rivals;
  for (const BaselineResult& baseline : r.baselines) rivals.push_back(&baseline);
  std::ranges::stable_sort(rivals, {}, [](const BaselineResult* b) { return b->time_ns.value; });
  if (rivals.size() > kMostContenders) rivals.resize(kMostContenders);
  for (const BaselineResult* rival : rivals) {
    const std::string name =
        rival->release.version.empty() ? rival->name : to_string(rival->name, rival->release);
    chart.bars.push_back(bar_of(short_line(name, 60), rival->time_ns,
                                rival->failed_gates.empty() ? Tone::kPlain : Tone::kFaint));
    add_contender(data, name, what_of(*rival), rival->time_ns, rival->speedup);
  }
  data.markup("contenders_drawn", both_widths(chart));
}

void add_gates(PageData& data, const EvalReport& r, PageRoom& room) {
  data.rows("judged_gates");
  for (std::size_t i = 0; i < std::min(r.gates.size(), kMostGates); ++i) {
    const GateResult& gate = r.gates[i];
    data.row("judged_gates",
             PageData()
                 .text("gate", name_of(gate.gate))
                 .text("state", name_of(gate.state))
                 .text("state_class", state_class(gate.state))
                 .text("asks", row_of(gate.gate).asks)
                 .text("summary", short_line(gate.summary, 400))
                 .markup("saw", room.text(evidence_lines(gate.evidence, 1'000), kEvidenceBytes)));
  }
}

void add_program(PageData& data, const Candidate& program, PageRoom& room) {
  data.rows("files");
  for (std::size_t i = 0; i < program.files.size(); ++i) {
    const SourceFile& file = program.files[i];
    Markup source = highlighted(file.content, comment_of(file, program), std::min(kSourceBytes, room.left()));
    room.take(std::min(source.text.size(), room.left()));
    data.row("files", PageData()
                          .text("file", short_line(file.name))
                          .text("open", i == 0 ? "open" : "")
                          .text("size", fmt::format("{} lines, {}", lines_of(file.content).size(),
                                                    readable_bytes(static_cast<double>(file.content.size()))))
                          .markup("source", std::move(source)));
  }
}

void add_profile(PageData& data, const Profile& profile, PageRoom& room) {
  data.rows("counters").rows("profile_texts").rows("pictures").rows("profile_absent");
  for (std::size_t i = 0; i < std::min(profile.facts.size(), kMostFacts); ++i) {
    const Fact& fact = profile.facts[i];
    data.row("counters",
             PageData()
                 .text("fact", short_line(fact.name, 80))
                 .text("value", fmt::format("{:.4g}{}{}", fact.value, fact.unit.empty() ? "" : " ",
                                            short_line(fact.unit, 20)))
                 .text("source", short_line(fact.source, 60)));
  }
  for (std::size_t i = 0; i < std::min(profile.texts.size(), kMostFacts); ++i) {
    const ProfileText& part = profile.texts[i];
    data.row("profile_texts", PageData()
                                  .text("title", short_line(part.title))
                                  .text("source", short_line(part.source, 60))
                                  .text("open", part.title == kHotLoopTitle ? "open" : "")
                                  .markup("text", room.text(part.text, kPlainTextBytes)));
  }
  for (std::size_t i = 0; i < std::min(profile.pictures.size(), kMostPictures); ++i)
    add_picture(data, profile.pictures[i], room);
  for (std::size_t i = 0; i < std::min(profile.absent.size(), kMostFacts); ++i)
    data.row("profile_absent", PageData().text("line", short_line(profile.absent[i], 400)));
}

void add_how(PageData& data, const EvalReport& r) {
  auto fact = [&](std::string_view name, const std::string& value) { add_fact(data, "how", name, value); };
  fact("machine", fmt::format("{}{}", r.machine_text, r.machine.empty() ? "" : " (" + r.machine + ")"));
  if (!r.device.name.empty())
    fact("device", r.device.driver.empty() ? r.device.name : r.device.name + ", by " + r.device.driver);
  if (r.load) fact("load while timed", r.load->busy() ? r.load->words() : "quiet");
  fact("threads", threads_text(r));
  fact("cache", r.cache);
  if (r.rounds > 0)
    fact("timing", fmt::format("{} rounds, spread {:.1f} %, {}", r.rounds, 100 * r.spread, r.clock));
  if (r.error)
    fact("accuracy", fmt::format("{}: largest error {} absolute, {} relative; {} of its bound at worst",
                                 r.precision, readable_error(r.error->max_abs),
                                 readable_error(r.error->max_rel), readable_error(r.error->of_bound)));
  fact("arithmetic declared", r.arithmetic);
  if (r.kernelbench)
    fact("KernelBench's criterion",
         fmt::format("{} ({})", r.kernelbench->passed ? "passed" : "not passed", r.kernelbench->what));
  if (r.peak_memory_bytes > 0) fact("peak memory", readable_bytes(static_cast<double>(r.peak_memory_bytes)));
  if (r.build) fact("compiled by", fmt::format("{}", fmt::join(r.build->command, " ")));
  fact("sandbox", r.sandbox);
  fact("flags", fmt::format("{}", fmt::join(r.flags, ", ")));
  fact("KForge", r.kforge_version);
  fact("task", fmt::format("{}, content {}", r.task, short_line(r.task_hash, 16)));
  fact("kernel", short_line(r.kernel_hash, 16));
  fact("result", r.result_id);
  std::string seeds;
  for (const SeedRecord& seed : r.seeds)
    seeds += fmt::format("{}{} {:016x}", seeds.empty() ? "" : ", ", seed.purpose, seed.seed);
  fact("seeds of inputs", shortened(seeds, 600));
}

}  // namespace kforge
