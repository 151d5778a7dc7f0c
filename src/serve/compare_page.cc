// Two results, runs, attempts, kernels or suites side by side, from what is stored: nothing is run for it. A
// result or run is named by its id, an attempt as RUN:NUMBER, a kernel by the hash of its files.
#include <algorithm>

#include "base/readable.h"
#include "base/text.h"
#include "report/highlight.h"
#include "report/line_diff.h"
#include "report/page_room.h"
#include "serve/page.h"
#include "serve/site.h"
#include "store/named_program.h"
#include "suite/suite_tables.h"

namespace kforge::serve {
namespace {

constexpr std::size_t kSourceBytes = 200'000, kDiffLines = 4000, kContext = 8;
constexpr double kComparisonsKept = 10;

struct Side {
  std::string name, link;
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<SourceFile> files;

  // So that the rows of both sides meet, every fact is there, known or not.
  void fact(std::string what, std::string value) { facts.emplace_back(std::move(what), std::move(value)); }
};

std::string interval_words(const std::optional<Interval>& ns) {
  if (!ns) return "";
  return fmt::format("{} [{}, {}]", readable_time(ns->value), readable_time(ns->lo), readable_time(ns->hi));
}

void add_facts(Side& side, const EvalReport& r) {
  side.fact("task", r.task);
  side.fact("platform", r.platform);
  side.fact("shapes", r.shape_set);
  side.fact("precision", r.precision);
  side.fact("verdict", r.gate ? fmt::format("{} at {}", name_of(r.outcome), r.gate_name())
                              : std::string(name_of(r.outcome)));
  side.fact("time per call", interval_words(r.time_ns));
  side.fact("speedup", r.speedup ? fmt::format("{}x [{}, {}] over {}", readable_ratio(r.speedup->value),
                                               readable_ratio(r.speedup->lo), readable_ratio(r.speedup->hi),
                                               r.speedup->against)
                                 : "");
  side.fact("roofline", r.roofline ? fmt::format("{:.0f} % of the {} bound", 100 * r.roofline->fraction,
                                                 r.roofline->bound)
                                   : "");
  side.fact("largest error", r.error ? readable_error(r.error->max_abs) : "");
  side.fact("threads", std::to_string(r.threads));
  side.fact("machine", r.machine_text);
  side.fact("kernel", r.kernel_path);
  side.fact("when", minute_of(r.created_at));
}

void add_facts(Side& side, const StoredRun& run) {
  side.fact("generator", run.generator);
  side.fact("analyst", run.analyst);
  side.fact("strategy", run.strategy);
  side.fact("search", run.ended ? std::string(name_of(*run.ended)) : "not ended");
}

void add_facts(Side& side, const Attempt& attempt) {
  side.fact("pass", std::string(name_of(attempt.proposal.pass)));
  side.fact("change", short_line(attempt.change(), 160));
  side.fact("time of the search", attempt.judgement && attempt.judgement->time_ns
                                      ? readable_time(*attempt.judgement->time_ns)
                                      : "");
}

std::string link_of(const NamedProgram& named) {
  if (named.run) return "/runs/" + named.run->id;
  return named.result.empty() ? "" : "/results/" + named.result;
}

Result<Side> side_of(const std::string& which) {
  KF_TRY(Store store, Store::open());
  KF_TRY(auto records, RunRecords::open());
  KF_TRY(NamedProgram named, named_program(store, *records, which));
  Side side{is_program_hash(named.name) ? named.name.substr(0, 12) : named.name, link_of(named), {}, {}};
  if (named.report) {
    add_facts(side, *named.report);
  } else {
    side.fact("task", named.task());
    side.fact("platform", named.run ? named.run->platform : "");
    side.fact("verdict", named.outcome().empty() ? "not judged" : named.outcome());
    side.fact("kernel", named.kernel());
  }
  if (named.attempt) add_facts(side, *named.attempt);
  if (named.run) add_facts(side, *named.run);
  side.fact("hash", named.program.hash);
  side.files = std::move(named.program.files);
  return side;
}

// What may stand in the address: nothing that a path or an option could be made of.
bool is_name(const std::string& text) {
  return is_id(text) || is_attempt_name(text) || is_program_hash(text);
}
constexpr const char* kNames =
    "Results, runs and suites have ids, an attempt is RUN:NUMBER, a kernel its hash.";
std::unexpected<Error> no_name(const std::string& text) {
  return fail_with_remedy(kNames, fmt::format("\"{}\" names nothing in the store", short_line(text, 60)));
}

std::optional<SuiteFolder> suite_named(const std::string& id) {
  if (!is_id(id)) return std::nullopt;
  auto suites = SuiteFolder::all();
  if (!suites) return std::nullopt;
  for (SuiteFolder& suite : *suites)
    if (suite.plan().id == id) return std::move(suite);
  return std::nullopt;
}

void add_fact_rows(PageData& data, const Side& a, const Side& b) {
  data.rows("facts");
  auto value_of = [](const Side& side, const std::string& name) {
    for (const auto& [what, value] : side.facts)
      if (what == name) return value;
    return std::string();
  };
  std::vector<std::string> names;
  for (const Side* side : {&a, &b})
    for (const auto& [what, value] : side->facts)
      if (std::ranges::find(names, what) == names.end()) names.push_back(what);
  for (const std::string& name : names) {
    const std::string left = value_of(a, name), right = value_of(b, name);
    data.row("facts", PageData()
                          .text("fact", name)
                          .text("left", short_line(left, 200))
                          .text("right", short_line(right, 200))
                          .text("differs", left == right ? "" : "yes"));
  }
}

// Lines that were taken away beside those that came in their place.
void add_lines(PageData& data, const std::vector<DiffLine>& lines) {
  std::vector<std::string_view> removed, added;
  auto put = [&](std::string_view left, std::string_view right, const char* left_kind,
                 const char* right_kind) {
    data.row("lines", PageData()
                          .text("left", left)
                          .text("right", right)
                          .text("left_kind", left_kind)
                          .text("right_kind", right_kind)
                          .text("skipped", ""));
  };
  auto flush = [&] {
    for (std::size_t i = 0; i < std::max(removed.size(), added.size()); ++i)
      put(i < removed.size() ? removed[i] : "", i < added.size() ? added[i] : "",
          i < removed.size() ? "removed" : "none", i < added.size() ? "added" : "none");
    removed.clear();
    added.clear();
  };
  for (const DiffLine& line : lines) {
    if (line.kind == DiffLine::Kind::kRemoved) removed.push_back(line.text);
    if (line.kind == DiffLine::Kind::kAdded) added.push_back(line.text);
    if (line.kind == DiffLine::Kind::kRemoved || line.kind == DiffLine::Kind::kAdded) continue;
    flush();
    if (line.kind == DiffLine::Kind::kSame) put(line.text, line.text, "", "");
    if (line.kind == DiffLine::Kind::kSkipped)
      data.row("lines", PageData()
                            .text("left", "")
                            .text("right", "")
                            .text("left_kind", "")
                            .text("right_kind", "")
                            .text("skipped", std::to_string(line.skipped)));
  }
  flush();
}

struct FilePair {
  std::string name, left, right;
};

// By name; main files, the first of each, with each other whatever they are called: v2.cc and v3.cc are two
// versions of one.
std::vector<FilePair> paired(const Side& a, const Side& b) {
  std::vector<FilePair> pairs;
  for (const SourceFile& file : a.files) pairs.push_back({file.name, file.content, ""});
  for (std::size_t i = 0; i < b.files.size(); ++i) {
    const SourceFile& file = b.files[i];
    auto found = i == 0 ? pairs.begin() : std::ranges::find(pairs, file.name, &FilePair::name);
    if (found == pairs.end()) found = pairs.insert(pairs.end(), FilePair{file.name, "", ""});
    if (found->name != file.name) found->name += ", " + file.name;
    found->right = file.content;
  }
  return pairs;
}

void add_files(PageData& data, const Side& a, const Side& b) {
  data.rows("files");
  for (const auto& [name, left, right] : paired(a, b)) {
    PageData file;
    file.text("file", short_line(name))
        .rows("lines")
        .text("same", left == right ? "yes" : "")
        .text("anew", "");
    file.markup("left_source", {}).markup("right_source", {});
    auto lines = left == right ? std::nullopt : line_diff(left, right, kContext);
    if (lines && lines->size() <= kDiffLines) {
      add_lines(file, *lines);
    } else if (left != right) {
      file.text("anew", "yes");
      file.markup("left_source", highlighted(left, "//", kSourceBytes));
      file.markup("right_source", highlighted(right, "//", kSourceBytes));
    }
    data.row("files", std::move(file));
  }
}

void add_suites(PageData& data, const SideBySide& sides) {
  const TextTable table = side_by_side_table(sides);
  data.rows("heading").rows("suite_lines");
  for (const std::string& cell : table[0]) data.row("heading", PageData().text("cell", cell));
  for (std::size_t i = 1; i < table.size(); ++i) {
    PageData line;
    line.rows("cells");
    for (std::size_t j = 0; j < table[i].size(); ++j)
      line.row("cells", PageData()
                            .text("cell", short_line(table[i][j], 200))
                            .text("column", j < table[0].size() ? table[0][j] : ""));
    data.row("suite_lines", std::move(line));
  }
}

Answer compared_json(const Asked& asked, Site& site, const std::string& a, const std::string& b) {
  for (const std::string& which : {a, b})
    if (!is_name(which)) return refusal(asked, 400, no_name(which).error().message, kNames);
  auto document = site.documents.get({"compare", a, b, "--no-time"}, kComparisonsKept);
  return document ? json_answer(*document) : not_found(asked, document.error());
}

}  // namespace

Answer compare_page(const Asked& asked, Site& site) {
  const std::string a{trimmed(asked.asked("a"))}, b{trimmed(asked.asked("b"))};
  const bool both = !a.empty() && !b.empty();
  if (asked.json && both) return compared_json(asked, site, a, b);
  if (asked.json) return refusal(asked, 400, "Say what to compare", "compare.json?a=ID&b=ID");
  PageData data;
  add_frame(data, asked, "Compare", "compare");
  data.text("twin", both && is_name(a) && is_name(b) ? fmt::format("/compare.json?a={}&b={}", a, b) : "");
  data.text("a", a).text("b", b).text("problem", "").text("suites", "").text("programs", "");
  if (!both) return page(asked, "compare", data);
  auto first_suite = suite_named(a), second_suite = suite_named(b);
  if (first_suite && second_suite) {
    auto sides = compare_suites(suite_report_of(*first_suite), suite_report_of(*second_suite));
    if (!sides) {
      data.text("problem", sides.error().text());
    } else {
      data.text("suites", "yes");
      add_suites(data, *sides);
    }
    return page(asked, "compare", data);
  }
  auto left = is_name(a) ? side_of(a) : no_name(a), right = is_name(b) ? side_of(b) : no_name(b);
  if (!left || !right) {
    data.text("problem", !left ? left.error().text() : right.error().text());
    return page(asked, "compare", data);
  }
  data.text("programs", "yes").text("left_name", left->name).text("left_link", left->link);
  data.text("right_name", right->name).text("right_link", right->link);
  add_fact_rows(data, *left, *right);
  add_files(data, *left, *right);
  return page(asked, "compare", data);
}

}  // namespace kforge::serve
