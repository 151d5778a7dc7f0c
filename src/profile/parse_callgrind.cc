// A callgrind.out file: instructions executed and simulated cache misses, in all, by function and by source
// line.
//   events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw        names of the columns
//   fn=(3) kernel._omp_fn.0                               cost lines after it belong to this function
//   calls=1 120                                           the next line is what the callee cost: not ours
//   42 1000 500 ...   +1 ...   * ...                      source line (absolute, relative, same) and costs
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include "generate/quote.h"
#include "profile/parsers.h"

namespace kforge {
namespace {

constexpr std::size_t kMostNames = 100'000, kShownFunctions = 8, kEvents = 16;

using Costs = std::vector<double>;

void add(Costs& sum, const Costs& part) {
  if (sum.size() < part.size()) sum.resize(part.size());
  for (std::size_t i = 0; i < part.size(); ++i) sum[i] += part[i];
}

class Reader {
 public:
  void read(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) take(line);
  }

  double total(std::string_view event) const {
    for (std::size_t i = 0; i < events_.size() && i < all_.size(); ++i)
      if (events_[i] == event) return all_[i];
    return 0;
  }

  // "kernel._omp_fn.0   83.2 %" lines, dearest first; misses beside instructions.
  std::string by_function() const { return table(functions_); }
  std::string by_line() const { return table(lines_); }

 private:
  void take(const std::string& line) {
    if (line.empty() || line.size() > 10'000) return;
    if (line.starts_with("events:")) {
      std::istringstream words(line.substr(7));
      for (std::string word; words >> word && events_.size() < kEvents;) events_.push_back(word);
    } else if (line.starts_with("fn=")) {
      function_ = name_of(line.substr(3), function_names_);
    } else if (line.starts_with("fl=") || line.starts_with("fi=") || line.starts_with("fe=")) {
      file_ = name_of(line.substr(3), file_names_);
    } else if (line.starts_with("cfn=")) {
      name_of(line.substr(4), function_names_);
    } else if (line.starts_with("cfi=") || line.starts_with("cfl=")) {
      name_of(line.substr(4), file_names_);
    } else if (line.starts_with("calls=")) {
      skip_next_ = true;
    } else if (line[0] == '+' || line[0] == '-' || line[0] == '*' || (line[0] >= '0' && line[0] <= '9')) {
      costs(line);
    }
  }

  // "(12) name" the first time, "(12)" later.
  static std::string name_of(const std::string& text, std::map<std::string, std::string>& names) {
    if (!text.starts_with('(')) return text.substr(0, 200);
    std::size_t close = text.find(')');
    if (close == std::string::npos) return text.substr(0, 200);
    std::string id = text.substr(0, close + 1);
    if (close + 2 < text.size() && names.size() < kMostNames) names[id] = text.substr(close + 2, 200);
    auto found = names.find(id);
    return found == names.end() ? id.substr(0, 40) : found->second;
  }

  void costs(const std::string& line) {
    std::istringstream words(line);
    std::string position;
    words >> position;
    long moved = 0;
    bool relative = position[0] == '+' || position[0] == '-';
    std::from_chars(position.data() + (position[0] == '+'), position.data() + position.size(), moved);
    if (position != "*") line_ = relative ? line_ + moved : moved;
    if (std::exchange(skip_next_, false)) return;
    Costs costs;
    for (double value = 0; costs.size() < events_.size() && words >> value;) costs.push_back(value);
    add(all_, costs);
    if (functions_.size() < kMostNames) add(functions_[function_], costs);
    if (lines_.size() < kMostNames && file_.ends_with(".cc")) {
      std::size_t slash = file_.rfind('/');
      add(lines_[fmt::format("{}:{}", slash == std::string::npos ? file_ : file_.substr(slash + 1), line_)],
          costs);
    }
  }

  std::string table(const std::map<std::string, Costs>& rows) const {
    std::vector<std::pair<std::string, Costs>> sorted(rows.begin(), rows.end());
    auto instructions = [](const auto& row) { return row.second.empty() ? 0 : row.second[0]; };
    std::ranges::sort(sorted, std::greater(), instructions);
    double all = all_.empty() ? 1 : std::max(1.0, all_[0]);
    std::string text;
    for (std::size_t i = 0; i < std::min(sorted.size(), kShownFunctions); ++i) {
      if (instructions(sorted[i]) < all / 200) break;
      text += fmt::format("{:5.1f} % of instructions  {}", 100 * instructions(sorted[i]) / all,
                          single_line(sorted[i].first, 100));
      for (auto [event, words] :
           {std::pair{"D1mr", "first-level read misses"}, {"DLmr", "last-level read misses"}}) {
        auto at = std::ranges::find(events_, event);
        std::size_t column = static_cast<std::size_t>(at - events_.begin());
        if (at != events_.end() && column < sorted[i].second.size() && sorted[i].second[column] > 0)
          text += fmt::format(", {:.3g} {}", sorted[i].second[column], words);
      }
      text += '\n';
    }
    return text;
  }

  std::vector<std::string> events_;
  std::map<std::string, std::string> function_names_, file_names_;
  std::map<std::string, Costs> functions_, lines_;
  Costs all_;
  std::string function_, file_;
  long line_ = 0;
  bool skip_next_ = false;
};

}  // namespace

bool parse_callgrind(const Said& said, Findings& findings) {
  Reader reader;
  reader.read(said.product.empty() ? said.out : said.product);
  double instructions = reader.total("Ir");
  if (instructions <= 0) {
    findings.profile.absent.push_back(fmt::format(
        "{}: no counts came{}", said.profiler,
        said.err.empty()
            ? ""
            : ": " + single_line(said.err.size() > 400 ? said.err.substr(said.err.size() - 400) : said.err,
                                 400)));
    return false;
  }
  auto fact = [&](std::string_view name, double value, std::string_view unit) {
    findings.fact(name, value, unit, said.profiler);
  };
  double reads = reader.total("Dr"), writes = reader.total("Dw");
  fact("simulated_instructions", instructions, "");
  if (findings.input && findings.input->task && findings.input->task->cost.flops > 0)
    fact("instructions_per_flop", instructions / findings.input->task->cost.flops, "");
  if (reads + writes > 0) {
    fact("l1_miss_rate", 100 * (reader.total("D1mr") + reader.total("D1mw")) / (reads + writes), "%");
    fact("ll_miss_rate", 100 * (reader.total("DLmr") + reader.total("DLmw")) / (reads + writes), "%");
  }
  findings.profile.texts.push_back(
      {"instructions by function (callgrind, AVX2 build)", reader.by_function(), said.profiler});
  if (std::string lines = reader.by_line(); !lines.empty())
    findings.profile.texts.push_back(
        {"instructions by source line (callgrind, AVX2 build)", lines, said.profiler});
  return true;
}

}  // namespace kforge
