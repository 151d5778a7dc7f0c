#include "generate/tunables.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace kforge {
namespace {

bool is_name_char(char c, bool first) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || (!first && c >= '0' && c <= '9');
}

// A recursive-descent reader of a condition. Values saturate at 2^62, so that nothing overflows.
class ConditionReader {
 public:
  ConditionReader(std::string_view text, const Assignment& values) : text_(text), values_(values) {}

  Result<bool> condition() {
    KF_TRY(std::int64_t left, sum(0));
    std::string op;
    skip();
    while (at_ < text_.size() && std::string_view("<>=!").find(text_[at_]) != std::string_view::npos &&
           op.size() < 2)
      op += text_[at_++];
    KF_TRY(std::int64_t right, sum(0));
    skip();
    if (at_ != text_.size()) return wrong();
    if (undefined_) return false;
    if (op == "<=") return left <= right;
    if (op == "<") return left < right;
    if (op == ">=") return left >= right;
    if (op == ">") return left > right;
    if (op == "==") return left == right;
    if (op == "!=") return left != right;
    return wrong();
  }

 private:
  static constexpr __int128 kMost = static_cast<__int128>(1) << 62;
  static std::int64_t clamp(__int128 value) {
    return static_cast<std::int64_t>(std::clamp(value, -kMost, kMost));
  }

  std::unexpected<Error> wrong() const {
    return fail("'{}' is not understood at character {}", text_, at_ + 1);
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<std::int64_t> sum(int depth) {
    KF_TRY(std::int64_t value, product(depth));
    for (;;) {
      bool plus = take('+');
      if (!plus && !take('-')) return value;
      KF_TRY(std::int64_t other, product(depth));
      value = clamp(static_cast<__int128>(value) + (plus ? other : -other));
    }
  }
  Result<std::int64_t> product(int depth) {
    KF_TRY(std::int64_t value, atom(depth));
    for (;;) {
      skip();
      char op = at_ < text_.size() ? text_[at_] : ' ';
      if (op != '*' && op != '/' && op != '%') return value;
      ++at_;
      KF_TRY(std::int64_t other, atom(depth));
      if (op == '*') {
        value = clamp(static_cast<__int128>(value) * other);
      } else if (other == 0) {
        undefined_ = true;
      } else {
        value = op == '/' ? value / other : value % other;
      }
    }
  }
  Result<std::int64_t> atom(int depth) {
    if (depth > 32) return fail("'{}' is nested too deeply", text_);
    if (take('(')) {
      KF_TRY(std::int64_t value, sum(depth + 1));
      if (!take(')')) return wrong();
      return value;
    }
    skip();
    std::size_t start = at_;
    while (at_ < text_.size() && is_name_char(text_[at_], at_ == start)) ++at_;
    std::string_view name = text_.substr(start, at_ - start);
    if (!name.empty()) {
      auto found = std::ranges::find(values_, name, &Assignment::value_type::first);
      if (found == values_.end()) return fail("'{}' is no tunable in '{}'", name, text_);
      return found->second;
    }
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{}) return wrong();
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  std::string_view text_;
  const Assignment& values_;
  std::size_t at_ = 0;
  bool undefined_ = false;
};

std::vector<std::string_view> words_of_line(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    std::size_t start = text.find_first_not_of(" \t");
    if (start == std::string_view::npos) break;
    text.remove_prefix(start);
    std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

Result<Tunable> read_tunable(std::string_view word) {
  std::size_t equals = word.find('=');
  Tunable tunable;
  tunable.name = word.substr(0, equals);
  bool good = equals != std::string_view::npos && !tunable.name.empty() && tunable.name.size() <= 64;
  for (std::size_t i = 0; good && i < tunable.name.size(); ++i) good = is_name_char(tunable.name[i], i == 0);
  if (!good) return fail("kforge: tune: '{}' is not NAME=1,2,3", word);
  std::string_view rest = word.substr(equals + 1);
  while (!rest.empty()) {
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    std::size_t used = static_cast<std::size_t>(end - rest.data());
    if (error != std::errc{} || (used < rest.size() && rest[used] != ','))
      return fail("kforge: tune: '{}' has a value that is no whole number", word);
    tunable.values.push_back(value);
    rest.remove_prefix(std::min(rest.size(), used + 1));
  }
  if (tunable.values.empty() || tunable.values.size() > kMostValues)
    return fail("kforge: tune: '{}' needs 1 to {} values", word, kMostValues);
  return tunable;
}

std::string values_found(const Candidate& program) {
  return fmt::format("{} Values found by KForge:\n", program.comment);
}

// How the two lines of a value begin: macros in C and its kin; elsewhere values travel beside the source (-D,
// the runner's symbols), and the lines are comments.
struct ValueLines {
  std::string undef, define;
};
ValueLines value_lines_of(const Candidate& program) {
  if (program.comment == "//") return {"#undef ", "#define "};
  return {program.comment + " kforge tunable ", program.comment + " kforge value "};
}

// Cuts the values found earlier out of a program, wherever an author left them.
Assignment take_values(const Candidate& program, std::string& text) {
  Assignment values;
  const std::string title = values_found(program);
  const ValueLines lines = value_lines_of(program);
  std::size_t at = text.find(title);
  if (at == std::string::npos) return values;
  text.erase(at, title.size());
  for (;;) {
    std::size_t end = text.find('\n', at);
    if (text.compare(at, lines.undef.size(), lines.undef) != 0 || end == std::string::npos) return values;
    std::string name = text.substr(at + lines.undef.size(), end - at - lines.undef.size());
    std::string define = fmt::format("{}{} ", lines.define, name);
    std::size_t number = end + 1 + define.size();
    std::int64_t value = 0;
    if (text.compare(end + 1, define.size(), define) != 0) return values;
    auto [rest, error] = std::from_chars(text.data() + number, text.data() + text.size(), value);
    auto next = static_cast<std::size_t>(rest - text.data());
    if (error != std::errc{} || next >= text.size() || text[next] != '\n') return values;
    values.emplace_back(std::move(name), value);
    text.erase(at, next + 1 - at);
  }
}

}  // namespace

Result<bool> condition_holds(std::string_view condition, const Assignment& values) {
  return ConditionReader(condition, values).condition();
}

bool has_tunables(const Candidate& candidate) {
  return std::ranges::any_of(candidate.directives(),
                             [](const Candidate::Directive& d) { return d.key == "tune"; });
}

Result<Tunables> tunables_of(const Candidate& candidate) {
  Tunables tunables;
  for (const Candidate::Directive& directive : candidate.directives()) {
    if (directive.key != "tune") continue;
    std::string_view text = directive.value;
    std::size_t where = text.find(" where ");
    if (where != std::string_view::npos) tunables.conditions.emplace_back(text.substr(where + 7));
    for (std::string_view word : words_of_line(text.substr(0, where))) {
      KF_TRY(Tunable tunable, read_tunable(word));
      if (std::ranges::count(tunables.list, tunable.name, &Tunable::name))
        return fail("kforge: tune: {} is there twice", tunable.name);
      tunables.list.push_back(std::move(tunable));
    }
  }
  if (tunables.list.size() > kMostTunables) return fail("kforge: tune: more than {} tunables", kMostTunables);
  Assignment own;
  for (const Tunable& tunable : tunables.list) own.emplace_back(tunable.name, tunable.values.front());
  for (const std::string& condition : tunables.conditions) {
    KF_TRY([[maybe_unused]] bool holds, condition_holds(condition, own));
  }
  return tunables;
}

std::vector<Assignment> Tunables::assignments(std::size_t limit) const {
  std::vector<Assignment> all;
  std::vector<std::size_t> digits(list.size(), 0);
  // Counts through the product, the last name fastest; bounded also when the conditions refuse nearly
  // everything.
  for (std::size_t looked = 0; looked < 100'000 && all.size() < limit; ++looked) {
    Assignment values;
    for (std::size_t i = 0; i < list.size(); ++i)
      values.emplace_back(list[i].name, list[i].values[digits[i]]);
    bool holds = std::ranges::all_of(conditions, [&](const std::string& condition) {
      return condition_holds(condition, values).value_or(false);
    });
    if (holds) all.push_back(std::move(values));
    std::size_t i = list.size();
    while (i > 0 && ++digits[i - 1] == list[i - 1].values.size()) digits[--i] = 0;
    if (i == 0) break;
  }
  return all;
}

Candidate with_values(const Candidate& candidate, const Assignment& values) {
  Candidate filled = candidate;
  std::string& text = filled.files.front().content;
  // A program that was tuned before and is changed again has its values at its top: those of other names
  // stay.
  Assignment all = take_values(candidate, text);
  std::erase_if(all, [&](const auto& old) {
    return std::ranges::count(values, old.first, &Assignment::value_type::first) > 0;
  });
  all.insert(all.end(), values.begin(), values.end());
  std::string macros = values_found(candidate);
  const ValueLines lines = value_lines_of(candidate);
  for (const auto& [name, value] : all)
    macros += fmt::format("{0}{2}\n{1}{2} {3}\n", lines.undef, lines.define, name, value);
  // The line that asked for the search has been answered.
  for (std::size_t at = 0; (at = text.find("kforge: tune", at)) != std::string::npos; at += 12)
    text.replace(at, 12, "kforge tuned");
  const std::size_t version_end = text.starts_with("#version") ? text.find('\n') + 1 : 0;
  text.insert(version_end, macros);
  return filled;
}

Result<Assignment> current_values(const Candidate& candidate) {
  KF_TRY(Tunables tunables, tunables_of(candidate));
  std::string text = candidate.files.front().content;
  Assignment values = take_values(candidate, text);
  for (const Tunable& tunable : tunables.list)
    if (std::ranges::count(values, tunable.name, &Assignment::value_type::first) == 0)
      values.emplace_back(tunable.name, tunable.values.front());
  return values;
}

std::string to_text(const Assignment& values) {
  std::string text;
  for (const auto& [name, value] : values)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

}  // namespace kforge
