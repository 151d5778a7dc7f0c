// Functions that a device language does not have, or not accurately: the headers of kernels/device/, with
// their words spelled as the language does.
#include <cctype>

#include <fmt/format.h>

#include "smith/device/device_expr.h"
#include "smith/kernels/kernel_text.h"

namespace kforge::smith {
namespace {

// The header that declares a function: "FN float NAME(" stands in it.
std::string header_of(std::string_view function) {
  const std::string declared = fmt::format(" {}(", function);
  for (const KernelHeader& header : kernel_headers()) {
    if (!header.path.starts_with("device/")) continue;
    for (std::size_t at = header.text.find("\nFN "); at != std::string_view::npos;
         at = header.text.find("\nFN ", at + 1)) {
      const std::string_view line = header.text.substr(at + 1, header.text.find('\n', at + 1) - at);
      if (line.find(declared) < line.find('{')) return std::string(header.path);
    }
  }
  KF_CHECK(false, "no function '{}' for devices", function);
  return {};
}

// What a language calls the function that a spelling ("fabs({0})") calls.
std::string call_of(std::string_view spelling) { return std::string(spelling.substr(0, spelling.find('('))); }
std::string own_function(const Dialect& d, Op op) {
  const auto found = d.functions.find(op);
  return found == d.functions.end() ? std::string() : call_of(found->second);
}

// The words of kernels/device/spelling.h in a language.
std::map<std::string, std::string, std::less<>> words_of(const Dialect& d) {
  const std::string log1p = own_function(d, Op::kLog1p), fmod = own_function(d, Op::kFmod);
  return {{"FN ", std::string(d.function)},
          {"WHOLE", std::string(d.whole)},
          {"WHOLE_MOST", d.whole_literal(INT64_MAX)},
          {"WHOLE_LEAST", d.whole_literal(INT64_MIN)},
          {"ABS", own_function(d, Op::kAbs)},
          {"EXP", own_function(d, Op::kExp)},
          {"LOG", own_function(d, Op::kLog)},
          {"FLOOR", own_function(d, Op::kFloor)},
          {"RINT", own_function(d, Op::kRound)},
          {"LOG1P", log1p.empty() ? "log1p_of" : log1p},
          {"FMOD", fmod.empty() ? "remainder_of" : fmod},
          {"FLOAT_BITS", call_of(d.float_bits)},
          {"BITS_FLOAT", call_of(d.bits_float)},
          {"TO_INT", d.constructor_casts ? "int" : "(int)"},
          {"TO_WHOLE", d.constructor_casts ? std::string(d.whole) : fmt::format("({})", d.whole)},
          {"DEVICE_INFINITY", std::string(d.infinity)},
          {"DEVICE_NAN", std::string(d.nan)}};
}

// Whole words in capitals, replaced.
std::string spelled(std::string_view text, const Dialect& dialect) {
  const auto words = words_of(dialect);
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    std::string_view word = text.substr(at, end - at);
    if (word == "FN") word = text.substr(at, ++end - at);  // with the space behind it: it may be empty
    const auto found = words.find(word);
    out += found == words.end() ? std::string(word) : found->second;
    at = end;
  }
  return out;
}

}  // namespace

std::string device_prelude(const Dialect& dialect, const std::set<std::string>& used) {
  std::set<std::string> headers, left_out = {"device/spelling.h"};
  for (const std::string& function : used) headers.insert(header_of(function));
  if (!own_function(dialect, Op::kLog1p).empty()) left_out.insert("device/log1p.h");
  if (!own_function(dialect, Op::kFmod).empty()) left_out.insert("device/remainder.h");
  for (const std::string& header : headers) left_out.erase(header);
  return spelled(kernel_text(headers, left_out), dialect);
}

}  // namespace kforge::smith
