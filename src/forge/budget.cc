#include "forge/budget.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace kforge {
namespace {

enum class Kind : std::uint8_t { kSeconds, kTokens, kDollars, kAttempts };

struct Unit {
  std::string_view name;
  Kind kind;
  double factor;
};

constexpr std::array kUnits = {
    Unit{"", Kind::kSeconds, 1},         Unit{"s", Kind::kSeconds, 1},
    Unit{"sec", Kind::kSeconds, 1},      Unit{"m", Kind::kSeconds, 60},
    Unit{"min", Kind::kSeconds, 60},     Unit{"h", Kind::kSeconds, 3600},
    Unit{"tok", Kind::kTokens, 1},       Unit{"ktok", Kind::kTokens, 1e3},
    Unit{"mtok", Kind::kTokens, 1e6},    Unit{"usd", Kind::kDollars, 1},
    Unit{"$", Kind::kDollars, 1},        Unit{"attempts", Kind::kAttempts, 1},
    Unit{"attempt", Kind::kAttempts, 1},
};

constexpr const char* kRemedy = "write it like --budget 60s,2usd,200ktok (s, m, h; usd; tok, ktok, mtok)";

Result<void> add_part(std::string_view part, Budget& budget) {
  auto refuse = [&] {
    return fail_with_remedy(kRemedy, fmt::format("--budget: '{}' is not understood", part));
  };
  std::string_view rest = part;
  bool dollar_sign = rest.starts_with('$');
  if (dollar_sign) rest.remove_prefix(1);
  double value = 0;
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc{} || !std::isfinite(value) || value < 0 || value > 1e15) return refuse();
  std::string_view name = trimmed(rest.substr(static_cast<std::size_t>(end - rest.data())));
  if (dollar_sign) name = name.empty() ? "$" : "?";
  for (const Unit& unit : kUnits) {
    if (unit.name != name) continue;
    double amount = value * unit.factor;
    switch (unit.kind) {
      case Kind::kSeconds:
        budget.seconds = amount;
        break;
      case Kind::kTokens:
        budget.tokens = static_cast<std::int64_t>(amount);
        break;
      case Kind::kDollars:
        budget.dollars = amount;
        break;
      case Kind::kAttempts:
        if (amount > 1e6) return refuse();
        budget.attempts = static_cast<int>(amount);
        break;
    }
    return {};
  }
  return refuse();
}

}  // namespace

Result<Budget> parse_budget(std::string_view text) {
  Budget budget;
  while (true) {
    std::size_t comma = text.find(',');
    KF_TRY_VOID(add_part(trimmed(text.substr(0, comma)), budget));
    if (comma == std::string_view::npos) return budget;
    text.remove_prefix(comma + 1);
  }
}

std::string to_text(const Budget& budget) {
  std::string text;
  auto add = [&](std::string part) { text += (text.empty() ? "" : ",") + part; };
  if (budget.attempts) add(fmt::format("{} attempts", *budget.attempts));
  if (budget.seconds) add(fmt::format("{}s", *budget.seconds));
  if (budget.dollars) add(fmt::format("{}usd", *budget.dollars));
  if (budget.tokens) add(fmt::format("{}tok", *budget.tokens));
  return text;
}

std::optional<Ending> used_up(const Budget& budget, const Spent& spent) {
  if (budget.attempts && spent.attempts >= *budget.attempts) return Ending::kAttempts;
  if (budget.seconds && spent.seconds >= *budget.seconds) return Ending::kSeconds;
  if (budget.tokens && spent.tokens >= *budget.tokens) return Ending::kTokens;
  if (budget.dollars && spent.dollars && *spent.dollars >= *budget.dollars) return Ending::kDollars;
  return std::nullopt;
}

Result<double> parse_factor(std::string_view text) {
  std::string_view number = text;
  if (number.ends_with('x')) number.remove_suffix(1);
  double value = 0;
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc{} || end != number.data() + number.size() || !std::isfinite(value) || value <= 0)
    return fail_with_remedy("write it like --target 2.0x", fmt::format("--target: '{}' is no factor", text));
  return value;
}

}  // namespace kforge
