// What tokens cost. Prices are data (models/prices.toml); a model without one has no dollars.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kforge {

struct TokenUsage;

// US dollars per million tokens.
struct Price {
  std::vector<std::string> models;  // names with * and ?
  double input = 0, output = 0, cached = 0, cache_write = 0;
  std::int64_t up_to = 0;  // input tokens of a call; 0: no limit
  std::string as_of;
};

// The [[price]] tables of a file.
Result<std::vector<Price>> read_prices(std::string_view text, const std::string& file);

// The first price with a fitting name.
std::optional<Price> price_of(const std::string& model, const std::vector<Price>& prices);

// Nothing when the call is longer than the price holds for.
std::optional<double> dollars_for(const TokenUsage& usage, const Price& price);

}  // namespace kforge
