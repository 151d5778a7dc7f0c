#include "smith_table.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/readable.h"

namespace kforge::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kSlower = 0.95;
constexpr std::string_view kAlgebraic = "algebraic";

struct FamilyPattern {
  const char* pattern;
  const char* family;
};

// The first pattern that fits says the family; the order of families is the one of their first appearance.
constexpr FamilyPattern kFamilies[] = {
    {"sweep/elementwise/*", "elementwise"},
    {"sweep/norms/*", "norms"},
    {"sweep/reductions/*", "reductions"},
    {"sweep/pooling/*", "pooling"},
    {"sweep/scans/*", "scans"},
    {"sweep/losses/*", "losses"},
    {"sweep/llm/*", "llm"},
    {"sweep/products/*", "gemm"},
    {"sweep/resnet50/*", "ResNet-50"},
    {"sweep/mobilenetv2/*", "MobileNetV2"},
    {"sweep/unet/*", "U-Net"},
    {"fusion/gemm_*", "gemm chains"},
    {"fusion/matmul_*", "gemm chains"},
    {"fusion/bmm_*", "gemm chains"},
    {"core/matmul_diagonal", "elementwise"},
    {"core/matmul*", "gemm"},
    {"core/matvec", "gemm"},
    {"core/*depthwise*", "depthwise"},
    {"core/conv_transpose*", "transposed"},
    {"core/conv*", "convolutions"},
    {"fusion/conv_transpose*", "transposed chains"},
    {"fusion/conv*", "conv chains"},
    {"core/*_norm*", "norms"},
    {"core/softmax", "norms"},
    {"core/log_softmax", "norms"},
    {"core/*_reduction", "reductions"},
    {"core/arg*", "reductions"},
    {"core/*_pool*", "pooling"},
    {"core/cum*", "scans"},
    {"core/*_loss", "losses"},
    {"core/*attention*", "attention"},
    {"llm/*attention*", "attention"},
    {"llm/*", "llm"},
    {"core/*", "elementwise"},
    {"*", "other"},
};

std::string text_of(const Json& json, const char* key) {
  auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

double number_of(const Json& json, const char* key) {
  auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() && found->is_number() ? found->get<double>() : 0;
}

const Json& part_of(const Json& json, const char* key) {
  static const Json nothing;
  auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() ? *found : nothing;
}

Json row_json(const SmithRow& row) {
  return {{"task", row.task},
          {"family", row.algebraic ? std::string(kAlgebraic) : family_of(row.task)},
          {"precision", row.precision},
          {"outcome", row.outcome},
          {"reason", row.reason},
          {"created_at", row.created_at},
          {"machine", row.machine},
          {"run", row.run},
          {"baseline", row.baseline},
          {"baseline_ns", row.baseline_ns},
          {"ours_ns", row.ours_ns},
          {"ratio", row.ratio},
          {"lo", row.lo},
          {"hi", row.hi},
          {"baselines", row.all},
          {"bound", row.bound},
          {"fraction", row.fraction},
          {"arithmetic", row.arithmetic},
          {"algebraic", row.algebraic},
          {"spread", row.spread},
          {"attempts", row.attempts},
          {"seconds", row.seconds}};
}

SmithRow row_from(const Json& json) {
  SmithRow row;
  row.task = text_of(json, "task");
  row.precision = text_of(json, "precision");
  row.outcome = text_of(json, "outcome");
  row.reason = text_of(json, "reason");
  row.created_at = text_of(json, "created_at");
  row.machine = text_of(json, "machine");
  row.run = text_of(json, "run");
  row.baseline = text_of(json, "baseline");
  row.baseline_ns = number_of(json, "baseline_ns");
  row.ours_ns = number_of(json, "ours_ns");
  row.ratio = number_of(json, "ratio");
  row.lo = number_of(json, "lo");
  row.hi = number_of(json, "hi");
  row.bound = text_of(json, "bound");
  row.fraction = number_of(json, "fraction");
  row.arithmetic = text_of(json, "arithmetic");
  row.spread = number_of(json, "spread");
  row.attempts = static_cast<int>(number_of(json, "attempts"));
  row.seconds = number_of(json, "seconds");
  const Json& algebraic = part_of(json, "algebraic");
  row.algebraic = algebraic.is_boolean() && algebraic.get<bool>();
  const Json& all = part_of(json, "baselines");
  if (all.is_object())
    for (const auto& [name, ns] : all.items())
      if (ns.is_number()) row.all[name] = ns.get<double>();
  return row;
}

std::string table_family(const SmithRow& row) {
  return row.algebraic ? std::string(kAlgebraic) : family_of(row.task);
}

std::vector<std::string> family_order() {
  std::vector<std::string> order;
  for (const FamilyPattern& entry : kFamilies)
    if (std::ranges::find(order, entry.family) == order.end()) order.emplace_back(entry.family);
  order.emplace_back(kAlgebraic);
  return order;
}

std::string print_table(const std::vector<std::vector<std::string>>& rows, const std::string& right,
                        TableForm form) {
  if (form == TableForm::kTerminal) return table(rows, right);
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::string& cell : rows[i]) text += "| " + cell + " ";
    text += "|\n";
    if (i > 0) continue;
    for (std::size_t c = 0; c < rows[i].size(); ++c)
      text += c < right.size() && right[c] == 'r' ? "|--:" : "|---";
    text += "|\n";
  }
  return text;
}

std::vector<std::string> cells_of(const SmithRow& row) {
  if (!row.passed()) {
    std::string why = row.reason.substr(0, row.reason.find('\n'));
    if (why.size() > 70) why = why.substr(0, 67) + "...";
    return {row.task, "", "", "", "**" + row.outcome + "**", printable(why), "", ""};
  }
  std::string ratio, interval;
  if (row.ratio > 0) {
    ratio = fmt::format("{:.2f}x", row.ratio);
    interval = fmt::format("{:.2f}-{:.2f}", row.lo, row.hi);
  }
  return {row.task + (row.algebraic ? " (algebraic)" : ""),
          row.baseline,
          row.baseline_ns > 0 ? readable_time(row.baseline_ns) : "",
          readable_time(row.ours_ns),
          ratio,
          interval,
          row.bound.empty() ? "" : fmt::format("{:.0f} % {}", 100 * row.fraction, row.bound),
          row.arithmetic};
}

}  // namespace

std::string family_of(std::string_view task) {
  const std::string name(task);
  for (const FamilyPattern& entry : kFamilies)
    if (::fnmatch(entry.pattern, name.c_str(), 0) == 0) return entry.family;
  return "other";
}

Result<SmithRow> row_from_report(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || text_of(json, "schema").empty())
    return fail("kforge forge printed no report: {}", text.substr(0, 200));
  SmithRow row;
  row.task = text_of(json, "task");
  row.precision = text_of(json, "precision");
  row.created_at = text_of(json, "created_at");
  row.run = text_of(json, "run");
  row.attempts = static_cast<int>(part_of(json, "attempts").size());
  for (const auto& [name, seconds] : part_of(json, "seconds").items())
    if (seconds.is_number()) row.seconds += seconds.get<double>();
  const Json& best = part_of(json, "best");
  if (!best.is_object()) {
    row.outcome = "not_found";
    for (const Json& attempt : part_of(json, "attempts"))
      if (row.reason.empty()) {
        row.reason = text_of(attempt, "reason");
        if (!text_of(attempt, "outcome").empty()) row.outcome = text_of(attempt, "outcome");
      }
    return row;
  }
  row.outcome = text_of(best, "outcome");
  row.reason = text_of(best, "reason");
  row.machine = text_of(part_of(best, "machine"), "text");
  row.arithmetic = text_of(best, "arithmetic");
  if (row.arithmetic.empty()) row.arithmetic = "fp32";
  row.ours_ns = number_of(part_of(best, "time_ns"), "median");
  row.spread = number_of(best, "spread");
  for (const Json& flag : part_of(best, "flags")) row.algebraic = row.algebraic || flag == "algebraic";
  // Faster than the graph's flops allow, but a convolution all the same: libraries have this way too.
  if (row.arithmetic == "fp32-winograd") row.algebraic = false;
  const Json& speedup = part_of(best, "speedup");
  row.baseline = text_of(speedup, "against");
  row.ratio = number_of(speedup, "value");
  row.lo = number_of(speedup, "lo");
  row.hi = number_of(speedup, "hi");
  for (const Json& baseline : part_of(best, "baselines")) {
    const double ns = number_of(part_of(baseline, "time_ns"), "median");
    row.all[text_of(baseline, "name")] = ns;
    if (text_of(baseline, "name") == row.baseline) row.baseline_ns = ns;
  }
  row.bound = text_of(part_of(best, "roofline"), "bound");
  row.fraction = number_of(part_of(best, "roofline"), "fraction");
  return row;
}

std::string to_line(const SmithRow& row) {
  return row_json(row).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::map<std::string, SmithRow> read_rows(const std::string& path, std::string_view precision) {
  std::map<std::string, SmithRow> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) continue;
    SmithRow row = row_from(json);
    if (!row.task.empty() && row.precision == precision) rows[row.task] = std::move(row);
  }
  return rows;
}

std::vector<FamilyMean> family_means(const std::vector<SmithRow>& rows) {
  std::vector<FamilyMean> means;
  for (const std::string& family : family_order()) {
    FamilyMean mean{.family = family};
    double logs = 0, fractions = 0;
    int compared = 0, placed = 0;
    for (const SmithRow& row : rows) {
      if (table_family(row) != family) continue;
      ++mean.tasks;
      mean.failed += !row.passed();
      if (row.compared()) {
        logs += std::log(row.ratio);
        ++compared;
        mean.slower += row.ratio < kSlower;
      }
      if (row.passed() && row.fraction > 0) {
        fractions += std::log(row.fraction);
        ++placed;
      }
    }
    if (mean.tasks == 0) continue;
    if (compared > 0) mean.mean = std::exp(logs / compared);
    if (placed > 0) mean.fraction = std::exp(fractions / placed);
    means.push_back(mean);
  }
  return means;
}

std::string print_rows(const std::vector<SmithRow>& rows, TableForm form) {
  std::vector<std::vector<std::string>> cells = {
      {"task", "fastest baseline", "its time", "ours", "ratio", "interval", "roofline", "arithmetic"}};
  for (const std::string& family : family_order())
    for (const SmithRow& row : rows)
      if (table_family(row) == family) cells.push_back(cells_of(row));
  return print_table(cells, "llrrrrrl", form);
}

std::string print_means(const std::vector<SmithRow>& rows, TableForm form) {
  std::vector<std::vector<std::string>> cells = {
      {"family", "tasks", "geometric mean", "roofline", "below 0.95x", "not passed"}};
  for (const FamilyMean& mean : family_means(rows))
    cells.push_back({mean.family, std::to_string(mean.tasks),
                     mean.mean > 0 ? fmt::format("{:.2f}x", mean.mean) : "-",
                     mean.fraction > 0 ? fmt::format("{:.0f} %", 100 * mean.fraction) : "-",
                     std::to_string(mean.slower), std::to_string(mean.failed)});
  return print_table(cells, "lrrrrr", form);
}

std::string print_lowest(const std::vector<SmithRow>& rows, TableForm form) {
  constexpr std::size_t kShown = 3;
  std::vector<std::vector<std::string>> cells = {{"family", "lowest points", "ratio", "interval", "of"}};
  for (const std::string& family : family_order()) {
    std::vector<const SmithRow*> compared;
    for (const SmithRow& row : rows)
      if (row.compared() && table_family(row) == family) compared.push_back(&row);
    std::ranges::sort(compared, {}, [](const SmithRow* row) { return row->ratio; });
    for (std::size_t i = 0; i < std::min(kShown, compared.size()); ++i)
      cells.push_back({i == 0 ? family : "", compared[i]->task, fmt::format("{:.2f}x", compared[i]->ratio),
                       fmt::format("{:.2f}-{:.2f}", compared[i]->lo, compared[i]->hi),
                       compared[i]->baseline});
  }
  return print_table(cells, "llrrl", form);
}

std::string to_json(const std::vector<SmithRow>& rows) {
  Json tasks = Json::array(), families = Json::array();
  for (const SmithRow& row : rows) tasks.push_back(row_json(row));
  for (const FamilyMean& mean : family_means(rows))
    families.push_back({{"family", mean.family},
                        {"tasks", mean.tasks},
                        {"geometric_mean", mean.mean > 0 ? Json(mean.mean) : Json(nullptr)},
                        {"fraction", mean.fraction > 0 ? Json(mean.fraction) : Json(nullptr)},
                        {"slower", mean.slower},
                        {"failed", mean.failed}});
  return Json{{"tasks", tasks}, {"families", families}}.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kforge::bench
