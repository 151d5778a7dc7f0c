#include "device/plan_expr.h"

#include <fmt/core.h>

#include <charconv>
#include <vector>

#include "base/nearest.h"

namespace kforge {
namespace {

constexpr int kDeepest = 64;            // parentheses
constexpr std::size_t kLongest = 1000;  // characters

struct BadExpression {
  std::string what;
};

// A recursive-descent parser that computes as it reads.
class Evaluation {
 public:
  Evaluation(std::string_view text, const PlanSymbols& symbols) : rest_(text), symbols_(symbols) {}

  std::int64_t run() {
    std::int64_t value = sum(0);
    skip();
    if (!rest_.empty()) throw BadExpression{fmt::format("'{}' is not understood", rest_.substr(0, 20))};
    return value;
  }

 private:
  void skip() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }
  bool take(char c) {
    skip();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void need(char c) {
    if (!take(c)) throw BadExpression{fmt::format("'{}' is missing", c)};
  }

  static std::int64_t checked(bool overflow, std::int64_t value) {
    if (overflow) throw BadExpression{"it is larger than 64 bits hold"};
    return value;
  }
  static std::int64_t plus(std::int64_t a, std::int64_t b) {
    std::int64_t value = 0;
    bool overflow = __builtin_add_overflow(a, b, &value);
    return checked(overflow, value);
  }
  static std::int64_t minus(std::int64_t a, std::int64_t b) {
    std::int64_t value = 0;
    bool overflow = __builtin_sub_overflow(a, b, &value);
    return checked(overflow, value);
  }
  static std::int64_t times(std::int64_t a, std::int64_t b) {
    std::int64_t value = 0;
    bool overflow = __builtin_mul_overflow(a, b, &value);
    return checked(overflow, value);
  }
  static std::int64_t divisor(std::int64_t value) {
    if (value == 0) throw BadExpression{"it divides by zero"};
    if (value < 0) throw BadExpression{"it divides by a negative number"};
    return value;
  }

  std::int64_t sum(int depth) {
    std::int64_t value = product(depth);
    for (;;) {
      if (take('+'))
        value = plus(value, product(depth));
      else if (take('-'))
        value = minus(value, product(depth));
      else
        return value;
    }
  }

  std::int64_t product(int depth) {
    std::int64_t value = atom(depth);
    for (;;) {
      if (take('*'))
        value = times(value, atom(depth));
      else if (take('/'))
        value /= divisor(atom(depth));
      else if (take('%'))
        value %= divisor(atom(depth));
      else
        return value;
    }
  }

  std::int64_t atom(int depth) {
    if (depth == kDeepest) throw BadExpression{"its parentheses are too deep"};
    if (take('(')) {
      std::int64_t value = sum(depth + 1);
      need(')');
      return value;
    }
    if (take('-')) return minus(0, atom(depth + 1));
    skip();
    if (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9') return number();
    std::string_view name = word();
    if (name.empty())
      throw BadExpression{rest_.empty() ? std::string("it ends too early")
                                        : fmt::format("'{}' is not understood", rest_.substr(0, 20))};
    if (take('(')) return function(name, depth + 1);
    auto found = symbols_.find(name);
    if (found == symbols_.end()) throw BadExpression{unknown(name)};
    return found->second;
  }

  std::int64_t number() {
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) throw BadExpression{"a number is larger than 64 bits hold"};
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  std::string_view word() {
    auto in_word = [](char c) {
      return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
    };
    std::size_t length = 0;
    while (length < rest_.size() && in_word(rest_[length])) ++length;
    std::string_view name = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return name;
  }

  std::int64_t function(std::string_view name, int depth) {
    std::int64_t a = sum(depth);
    need(',');
    std::int64_t b = sum(depth);
    need(')');
    if (name == "min") return std::min(a, b);
    if (name == "max") return std::max(a, b);
    if (name == "ceildiv") return plus(a, divisor(b) - 1) / b;
    throw BadExpression{
        fmt::format("there is no function '{}': ceildiv, min and max are", name.substr(0, 40))};
  }

  std::string unknown(std::string_view name) const {
    std::vector<std::string> names;
    for (const auto& [symbol, value] : symbols_) names.push_back(symbol);
    return fmt::format("unknown symbol '{}'{}", name.substr(0, 60), did_you_mean(name, names));
  }

  std::string_view rest_;
  const PlanSymbols& symbols_;
};

}  // namespace

std::expected<std::int64_t, std::string> evaluate_plan_expr(std::string_view text,
                                                            const PlanSymbols& symbols) {
  if (text.size() > kLongest)
    return std::unexpected(fmt::format("an expression has at most {} characters", kLongest));
  try {
    return Evaluation(text, symbols).run();
  } catch (const BadExpression& bad) {
    return std::unexpected(fmt::format("\"{}\": {}", text.substr(0, 80), bad.what));
  }
}

}  // namespace kforge
