// Names and times of records.
#include <chrono>
#include <ctime>

#include "base/random_seed.h"
#include "store/store.h"

namespace kforge {
namespace {

// Digits in the order of their ASCII codes, so that text sorts as the numbers do; no i, l, o, u to misread.
constexpr std::string_view kDigits = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::int64_t kEpochMilliseconds = 1'704'067'200'000;  // 2024-01-01; eight digits last until 2058

std::string base32(std::uint64_t value, int digits) {
  std::string text(static_cast<std::size_t>(digits), '0');
  for (int i = digits - 1; i >= 0; --i, value >>= 5) text[static_cast<std::size_t>(i)] = kDigits[value & 31];
  return text;
}

}  // namespace

std::string new_result_id() {
  using namespace std::chrono;
  auto now = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count() - kEpochMilliseconds;
  return base32(static_cast<std::uint64_t>(now), 8) + base32(random_seed(), 4);
}

}  // namespace kforge
