#include "llm/prices.h"

#include <fnmatch.h>

#include "llm/llm.h"
#include "llm/price_table.h"

namespace kforge {
namespace {
constexpr double kDearest = 1e6;
constexpr double kMillion = 1e6;
}  // namespace

std::vector<Price> prices_in(TomlSection& top) {
  std::vector<Price> prices;
  for (TomlSection& row : top.sections("price")) {
    Price price;
    price.models = row.texts("models");
    for (const char* key : {"input", "output"})
      if (!row.has(key)) row.mistake(key, fmt::format("a price needs '{}'", key));
    price.input = row.number("input", 0, 0, kDearest);
    price.output = row.number("output", 0, 0, kDearest);
    price.cached = row.number("cached", price.input, 0, kDearest);
    price.cache_write = row.number("cache_write", price.input, 0, kDearest);
    price.up_to = static_cast<std::int64_t>(row.number("up_to", 0, 0, 1e12));
    price.as_of = row.text("as_of");
    row.finish();
    prices.push_back(std::move(price));
  }
  return prices;
}

Result<std::vector<Price>> read_prices(std::string_view text, const std::string& file) {
  KF_TRY(toml::table table, parse_toml(text, file));
  TomlMistakes mistakes(file, "docs/models.md describes the price table");
  TomlSection top(table, "", mistakes);
  std::vector<Price> prices = prices_in(top);
  top.finish();
  if (mistakes.first()) return std::unexpected(*mistakes.first());
  return prices;
}

std::optional<Price> price_of(const std::string& model, const std::vector<Price>& prices) {
  for (const Price& price : prices)
    for (const std::string& pattern : price.models)
      if (::fnmatch(pattern.c_str(), model.c_str(), 0) == 0) return price;
  return std::nullopt;
}

std::optional<double> dollars_for(const TokenUsage& usage, const Price& price) {
  if (price.up_to > 0 && usage.input > price.up_to) return std::nullopt;
  auto plain = static_cast<double>(usage.input - usage.cache_read - usage.cache_write);
  double sum = std::max(0.0, plain) * price.input + static_cast<double>(usage.cache_read) * price.cached +
               static_cast<double>(usage.cache_write) * price.cache_write +
               static_cast<double>(usage.output) * price.output;
  return sum / kMillion;
}

}  // namespace kforge
