#include "task/distribution.h"

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "graph/graph.h"

namespace kforge {
namespace {

using Kind = Distribution::Kind;

struct Row {
  std::string_view name;
  Kind kind;
  std::size_t parameters;  // how many it may have
  double a, b;             // defaults
};
constexpr Row kRows[] = {
    {"uniform", Kind::kUniform, 2, -1, 1},
    {"normal", Kind::kNormal, 2, 0, 1},
    {"positive", Kind::kPositive, 2, 0.5, 1.5},
    {"integer", Kind::kInteger, 2, 0, 0},
    {"probability", Kind::kProbability, 0, 0, 0},
    {"log_probability", Kind::kLogProbability, 0, 0, 0},
    {"signs", Kind::kSigns, 0, 0, 0},
    {"mask", Kind::kMask, 1, 0.5, 0},
    {"fixed", Kind::kFixed, 0, 0, 0},
};

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    std::size_t comma = text.find(',');
    parts.push_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

bool is_identifier(std::string_view text) {
  if (text.empty() || isdigit(static_cast<unsigned char>(text[0]))) return false;
  for (char c : text)
    if (!isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  return true;
}

Result<void> read_bound(std::string_view text, Kind kind, double& number, std::string& symbol) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(number)) return {};
  if (kind != Kind::kInteger || !is_identifier(text)) return fail("'{}' is not a number", text);
  number = 0;
  symbol = text;
  return {};
}

}  // namespace

Result<Distribution> parse_distribution(std::string_view text) {
  std::string_view whole = trimmed(text);
  std::size_t open = whole.find('(');
  std::string_view name = trimmed(whole.substr(0, open));
  const Row* row = nullptr;
  for (const Row& candidate : kRows)
    if (candidate.name == name) row = &candidate;
  if (!row)
    return fail(
        "'{}' is no kind of values; there are uniform, normal, positive, integer, probability, "
        "log_probability, signs, mask, fixed",
        name);
  Distribution out{row->kind, row->a, row->b, {}, {}, row->kind == Kind::kInteger};
  if (open == std::string_view::npos) return out;
  if (!whole.ends_with(')')) return fail("'{}' lacks its closing parenthesis", whole);
  auto parts = split(whole.substr(open + 1, whole.size() - open - 2));
  if (parts.size() != row->parameters)
    return fail("'{}' takes {} numbers, not {}", name, row->parameters, parts.size());
  out.any_index = false;
  KF_TRY_VOID(read_bound(parts[0], row->kind, out.a, out.a_symbol));
  if (parts.size() > 1) KF_TRY_VOID(read_bound(parts[1], row->kind, out.b, out.b_symbol));
  bool symbolic = !out.a_symbol.empty() || !out.b_symbol.empty();
  if (row->kind == Kind::kUniform || row->kind == Kind::kPositive ||
      (row->kind == Kind::kInteger && !symbolic))
    if (!(out.a < out.b)) return fail("'{}': the first number must be below the second", whole);
  if (row->kind == Kind::kPositive && !(out.a > 0))
    return fail("'{}': the first number must be positive", whole);
  if (row->kind == Kind::kNormal && !(out.b > 0)) return fail("'{}': the deviation must be positive", whole);
  if (row->kind == Kind::kMask && !(out.a >= 0 && out.a <= 1))
    return fail("'{}': a probability is in [0, 1]", whole);
  if (row->kind == Kind::kInteger && (std::fabs(out.a) > 0x1p62 || std::fabs(out.b) > 0x1p62))
    return fail("'{}': bounds are too large", whole);
  return out;
}

std::string to_string(const Distribution& d) {
  auto bound = [](double number, const std::string& symbol) {
    return symbol.empty() ? fmt::format("{:g}", number) : symbol;
  };
  for (const Row& row : kRows) {
    if (row.kind != d.kind) continue;
    if (row.parameters == 0 || d.any_index) return std::string(row.name);
    if (row.parameters == 1) return fmt::format("{}({})", row.name, bound(d.a, d.a_symbol));
    return fmt::format("{}({}, {})", row.name, bound(d.a, d.a_symbol), bound(d.b, d.b_symbol));
  }
  return "";
}

Result<void> check_distribution(const Distribution& distribution, DType dtype) {
  Kind kind = distribution.kind;
  if (dtype == DType::kString) return fail("string tensors cannot be arguments");
  if (is_float(dtype) || kind == Kind::kInteger || kind == Kind::kMask || kind == Kind::kFixed) return {};
  bool is_unsigned = dtype == DType::kBool || dtype == DType::kUInt8 || dtype == DType::kUInt16 ||
                     dtype == DType::kUInt32 || dtype == DType::kUInt64;
  if (kind == Kind::kSigns && !is_unsigned) return {};
  return fail("values \"{}\" do not fit the element type {}", to_string(distribution), name_of(dtype));
}

}  // namespace kforge
