// Functions that a device language does not have, or not accurately. Written once: $fn is what stands before
// a function, $long the 64-bit integer, $abs $exp $log $floor the language's own functions, $bits(x) and
// $float(i) move between a float and its bits, $int(x) and $wide(x) convert.
#include <algorithm>

#include <fmt/format.h>

#include "smith/device/device_expr.h"

namespace kforge::smith {
namespace {

struct Piece {
  std::string_view name;
  std::vector<std::string_view> needs;
  std::string_view text;
};

const std::vector<Piece>& pieces() {
  static const std::vector<Piece> all = {
      {"larger", {}, "$fnfloat larger(float a, float b) { return b > a || b != b ? b : a; }  // NaN wins\n"},
      {"smaller",
       {},
       "$fnfloat smaller(float a, float b) { return b < a || b != b ? b : a; }  // NaN wins\n"},
      {"larger_double",
       {},
       "$fndouble larger_double(double a, double b) { return b > a || b != b ? b : a; }\n"},
      {"smaller_double",
       {},
       "$fndouble smaller_double(double a, double b) { return b < a || b != b ? b : a; }\n"},
      {"larger_whole", {}, "$fn$long larger_whole($long a, $long b) { return b > a ? b : a; }\n"},
      {"smaller_whole", {}, "$fn$long smaller_whole($long a, $long b) { return b < a ? b : a; }\n"},
      {"whole_magnitude", {}, "$fn$long whole_magnitude($long a) { return a < 0 ? -a : a; }\n"},
      {"with_sign_of", {}, R"(
$fnfloat with_sign_of(float x, float sign) { return $float($bits(x) | ($bits(sign) & $bits(-0.0f))); }
)"},
      {"exp_parts", {}, R"(
// exp(x + tail) = 2^n (1 + m): n whole, m = expm1 of what is left, |rest| < 0.35.
$fnfloat exp_rest(float x, float tail, float n) {
  const float r = ((x - n * 0.693359375f) + n * 2.12194440e-4f) + tail;
  float p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return p * (r * r) + r;
}
$fnfloat power_of_two(int n) { return $float((n + 127) << 23); }
)"},
      {"expm1_of", {"exp_parts"}, R"(
$fnfloat expm1_of(float x) {
  const float cut = x < -30.0f ? -30.0f : x > 89.0f ? 89.0f : x;
  const float n = $floor(cut * 1.44269504f + 0.5f);
  const float m = exp_rest(cut, 0.0f, n), half_ = power_of_two($int(n) - 1);
  const float y = (half_ * m + (half_ - 0.5f)) * 2.0f;
  return x != x || $abs(x) < 1e-30f ? x : y;
}
)"},
      {"log1p_of", {}, R"(
$fnfloat log1p_of(float x) {
  const float u = x + 1.0f, d = u - 1.0f;  // d: what of x arrived in u
  if (d == 0.0f) return x;
  return u < $infinity ? $log(u) * (x / d) : u;
}
)"},
      {"tanh_of", {"expm1_of", "with_sign_of"}, R"(
// m / (m + 2) with m = exp(2 |x|) - 1.
$fnfloat tanh_of(float x) {
  const float a = $abs(x), m = expm1_of((a > 10.0f ? 10.0f : a) * 2.0f);
  return x != x ? x : with_sign_of(m / (m + 2.0f), x);
}
)"},
      {"sigmoid_of", {}, R"(
$fnfloat sigmoid_of(float x) {
  const float e = $exp(-$abs(x));
  return (x >= 0.0f ? 1.0f : e) / (e + 1.0f);
}
)"},
      {"softplus_of", {"log1p"}, R"(
$fnfloat softplus_of(float x) { return (x > 0.0f ? x : 0.0f) + $log1p($exp(-$abs(x))); }
)"},
      {"erf_small", {}, R"(
// erf for |x| < 0.94.
$fnfloat erf_small(float x) {
  const float z = x * x;
  float p = z * 8.21278053e-5f - 8.10505451e-4f;
  p = p * z + 5.19768491e-3f;
  p = p * z - 2.68580425e-2f;
  p = p * z + 1.12836710e-1f;
  p = p * z - 3.76126322e-1f;
  p = p * z + 1.12837917f;
  return p * x;
}
)"},
      {"erfc_of", {"exp_parts", "erf_small"}, R"(
// exp(-a^2) times a polynomial in (a - 2) / (a + 2), for a = |x|; a^2 is taken exactly, in two parts.
$fnfloat erfc_of(float x) {
  const float whole_a = $abs(x), a = whole_a > 10.1f ? 10.1f : whole_a, q = (a - 2.0f) / (a + 2.0f);
  float p = q * 8.29498530e-5f + 1.75997835e-4f;
  p = p * q - 4.01850422e-4f;
  p = p * q - 1.42829469e-3f;
  p = p * q + 1.25122796e-3f;
  p = p * q + 8.71211838e-3f;
  p = p * q - 8.03004981e-3f;
  p = p * q - 5.42183374e-2f;
  p = p * q + 1.64050916e-1f;
  p = p * q - 1.66030490e-1f;
  p = p * q - 9.27638161e-2f;
  p = p * q + 1.27697838f;
  const float high = $float($bits(a) & ~4095), square = -high * high;
  const float n = $floor(square * 1.44269504f + 0.5f);
  const float m = exp_rest(square, (high - a) * (high + a), n);
  const int half_ = $int(n) / 2;
  const float y = (m + 1.0f) * (p / (a * 2.0f + 1.0f)) * power_of_two(half_) * power_of_two($int(n) - half_);
  const float far_ = x < 0.0f ? 2.0f - y : y;
  return x != x ? x : a < 0.5f ? 1.0f - erf_small(x) : far_;
}
)"},
      {"erf_of", {"erfc_of", "with_sign_of"}, R"(
$fnfloat erf_of(float x) { return x * x < 0.88f ? erf_small(x) : with_sign_of(1.0f - erfc_of($abs(x)), x); }
)"},
      {"normal_cdf", {"erfc_of"}, R"(
$fnfloat normal_cdf(float x) { return 0.5f * erfc_of(-0.70710678f * x); }
)"},
      {"remainder_of", {}, R"(
$fnfloat remainder_of(float a, float b) { return a - b * trunc(a / b); }
)"},
      {"floor_remainder", {"remainder"}, R"(
$fnfloat floor_remainder(float a, float b) {
  const float r = $fmod(a, b);
  return r != 0.0f && (r < 0.0f) != (b < 0.0f) ? r + b : r;
}
)"},
      {"power_of", {}, R"(
// Negative bases have powers for whole exponents only.
$fnfloat power_of(float x, float y) {
  if (y == 0.0f || x == 1.0f) return 1.0f;
  const float size = pow($abs(x), y);
  if (x >= 0.0f || x != x) return x == 0.0f ? (y > 0.0f ? 0.0f : $infinity) : size;
  if ($floor(y) != y) return $nan;
  return $floor(y * 0.5f) * 2.0f == y ? size : -size;
}
)"},
      {"whole_of", {}, R"(
// Towards zero; NaN gives 0, what is too large the nearest.
$fn$long whole_of(float x) {
  if (x != x) return 0;
  if (x >= 9223372036854775808.0f) return $most;
  return x < -9223372036854775808.0f ? $least : $wide(x);
}
)"},
      {"floor_mod", {}, R"(
$fn$long floor_mod($long a, $long b) {
  const $long r = b == -1 ? 0 : a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
)"},
      {"whole_power", {}, R"(
$fn$long whole_power($long base, $long exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  $long result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result *= base;
    base *= base;
  }
  return result;
}
)"},
      {"shifted_left",
       {},
       "$fn$long shifted_left($long a, $long by) { return by >= 64 ? 0 : a << $int(by); }\n"},
      {"shifted_right", {}, R"(
$fn$long shifted_right($long a, $long by) {
  return by >= 64 ? 0 : by <= 0 ? a : (a >> $int(by)) & (($wide(1) << (64 - $int(by))) - 1);
}
)"},
      {"bfloat_bits", {}, R"(
// The upper half of a float, rounded to even.
$fnint bfloat_bits(float x) {
  const int bits = $bits(x);
  const int rounded = x != x ? bits | 0x400000 : bits + 0x7fff + ((bits >> 16) & 1);
  return (rounded >> 16) & 0xffff;
}
)"},
      {"round_bfloat",
       {"bfloat_bits"},
       "$fnfloat round_bfloat(float x) { return $float(bfloat_bits(x) << 16); }\n"},
      {"round_half", {}, R"(
// The nearest number that float16 has: 11 bits, or a multiple of 2^-24.
$fnfloat round_half(float x) {
  const float a = $abs(x);
  if (!(a < 65520.0f)) return a >= 65520.0f ? (x > 0.0f ? $infinity : -$infinity) : x;
  const int exponent = ($bits(a) >> 23) - 127;
  const float unit = $float(((exponent < -14 ? -14 : exponent) - 10 + 127) << 23);
  return $rint(x / unit) * unit;
}
)"},
  };
  return all;
}

}  // namespace

std::string device_prelude(const Dialect& dialect, const std::set<std::string>& used) {
  auto own = [&](Op op) -> std::string {
    const auto found = dialect.functions.find(op);
    if (found == dialect.functions.end()) return {};
    return std::string(found->second.substr(0, found->second.find('(')));
  };
  auto call = [](std::string_view spelling) { return std::string(spelling.substr(0, spelling.find('('))); };
  const bool has_log1p = !own(Op::kLog1p).empty(), has_fmod = !own(Op::kFmod).empty();
  const std::vector<std::pair<std::string, std::string>> words = {
      {"$fn", std::string(dialect.function)},
      {"$log1p", has_log1p ? own(Op::kLog1p) : "log1p_of"},
      {"$fmod", has_fmod ? own(Op::kFmod) : "remainder_of"},
      {"$long", std::string(dialect.whole)},
      {"$abs", own(Op::kAbs)},
      {"$exp", own(Op::kExp)},
      {"$log", own(Op::kLog)},
      {"$rint", own(Op::kRound)},
      {"$floor", own(Op::kFloor)},
      {"$bits", call(dialect.float_bits)},
      {"$float", call(dialect.bits_float)},
      {"$int", dialect.constructor_casts ? "int" : "(int)"},
      {"$wide", dialect.constructor_casts ? std::string(dialect.whole) : fmt::format("({})", dialect.whole)},
      {"$infinity", std::string(dialect.infinity)},
      {"$nan", std::string(dialect.nan)},
      {"$most", dialect.whole_literal(INT64_MAX)},
      {"$least", dialect.whole_literal(INT64_MIN)},
  };
  std::string text;
  std::set<std::string_view> done;
  auto add = [&](auto&& self, std::string_view name) -> void {
    if (name == "log1p") name = has_log1p ? "" : "log1p_of";
    if (name == "remainder") name = has_fmod ? "" : "remainder_of";
    if (name.empty() || !done.insert(name).second) return;
    const auto& all = pieces();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Piece& p) { return p.name == name; });
    KF_CHECK(found != all.end(), "no piece '{}'", name);
    for (std::string_view needed : found->needs) self(self, needed);
    text += found->text;
  };
  for (const std::string& name : used) add(add, name);
  // Longer words first: "$float" is no "$floor", but "$log1p" begins with "$log".
  auto ordered = words;
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  // "$fn" is followed by a type without a space: "$fnfloat".
  for (const auto& [word, with] : ordered)
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += with.size())
      text.replace(at, word.size(), with);
  return text;
}

}  // namespace kforge::smith
