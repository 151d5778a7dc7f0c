#include "graph/formula.h"

#include <cctype>
#include <cmath>
#include <cstdlib>

#include "base/result.h"

namespace kforge {
namespace {

FormulaPtr shared(Formula formula) { return std::make_shared<const Formula>(std::move(formula)); }
FormulaPtr number_of(double value) { return shared({FormulaKind::kNumber, {}, value, {}, {}}); }

// Multiplies `into` by base ^ exponent.
void multiply(Formula& into, const FormulaPtr& base, double exponent) {
  if (base->kind == FormulaKind::kNumber) {
    into.number *= std::pow(base->number, exponent);
  } else if (base->kind == FormulaKind::kProduct && std::abs(exponent) == 1) {
    into.number *= std::pow(base->number, exponent);
    for (const Factor& factor : base->factors) multiply(into, factor.base, factor.exponent * exponent);
  } else {
    for (Factor& factor : into.factors)
      if (factor.base->kind == FormulaKind::kVariable && base->kind == FormulaKind::kVariable &&
          factor.base->name == base->name) {
        factor.exponent += exponent;
        return;
      }
    into.factors.push_back({base, exponent});
  }
}

FormulaPtr product_of(Formula product) {
  if (product.factors.empty()) return number_of(product.number);
  if (product.factors.size() == 1 && product.number == 1 && product.factors[0].exponent == 1)
    return product.factors[0].base;
  return shared(std::move(product));
}

class FormulaParser {
 public:
  explicit FormulaParser(std::string_view text) : text_(text) {}

  FormulaPtr parse() {
    FormulaPtr formula = sum();
    KF_CHECK(at_ == text_.size(), "formula '{}' has something behind its end", text_);
    return formula;
  }

 private:
  FormulaPtr sum() {
    Formula out{FormulaKind::kSum, {}, 0, {}, {}};
    double sign = 1;
    do {
      skip_spaces();
      if (text_[at_] == '@') {
        ++at_;
        out.name = word();
      } else {
        Formula term{FormulaKind::kProduct, {}, sign, {}, {}};
        multiply(term, product(), 1);
        FormulaPtr made = product_of(std::move(term));
        if (made->kind == FormulaKind::kNumber)
          out.number += made->number;
        else
          out.parts.push_back(made);
      }
      sign = next_is("-") ? -1 : 1;
    } while (take("+") || take("-"));
    if (out.parts.empty()) return number_of(out.number);
    if (out.parts.size() == 1 && out.number == 0 && out.name.empty()) return out.parts[0];
    return shared(std::move(out));
  }

  FormulaPtr product() {
    Formula out{FormulaKind::kProduct, {}, 1, {}, {}};
    multiply(out, power(), 1);
    while (next_is("*") || next_is("/")) {
      double exponent = take("*") ? 1 : -1;
      if (exponent < 0) KF_CHECK(take("/"), "formula '{}'", text_);
      multiply(out, power(), exponent);
    }
    return product_of(std::move(out));
  }

  FormulaPtr power() {
    FormulaPtr base = atom();
    if (!take("^")) return base;
    Formula out{FormulaKind::kProduct, {}, 1, {}, {}};
    multiply(out, base, number());
    return product_of(std::move(out));
  }

  FormulaPtr atom() {
    skip_spaces();
    if (take("(")) {
      FormulaPtr inner = sum();
      KF_CHECK(take(")"), "formula '{}' lacks a parenthesis", text_);
      return inner;
    }
    if (std::isdigit(static_cast<unsigned char>(text_[at_]))) return number_of(number());
    std::string name = word();
    if (!std::isupper(static_cast<unsigned char>(name[0])))
      return shared({FormulaKind::kVariable, name, 0, {}, {}});
    Formula call{FormulaKind::kCall, name, 0, {}, {}};
    KF_CHECK(take("("), "formula '{}': {} is an operator", text_, name);
    do call.parts.push_back(sum());
    while (take(","));
    KF_CHECK(take(")"), "formula '{}' lacks a parenthesis", text_);
    if (name != "Sqrt") return shared(std::move(call));
    Formula root{FormulaKind::kProduct, {}, 1, {}, {}};
    multiply(root, call.parts[0], 0.5);
    return shared(std::move(root));
  }

  double number() {
    skip_spaces();
    std::string digits(text_.substr(at_));
    char* end = nullptr;
    double value = std::strtod(digits.c_str(), &end);
    KF_CHECK(end != digits.c_str(), "formula '{}' lacks a number", text_);
    at_ += static_cast<std::size_t>(end - digits.c_str());
    return value;
  }

  std::string word() {
    skip_spaces();
    std::size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    KF_CHECK(at_ > from, "formula '{}' lacks a name", text_);
    return std::string(text_.substr(from, at_ - from));
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    KF_CHECK(at_ < text_.size(), "formula '{}' is cut short", text_);
  }
  bool next_is(std::string_view token) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return text_.substr(at_).starts_with(token);
  }
  bool take(std::string_view token) {
    if (!next_is(token)) return false;
    at_ += token.size();
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

FormulaPtr parse_formula(std::string_view text) { return FormulaParser(text).parse(); }

}  // namespace kforge
