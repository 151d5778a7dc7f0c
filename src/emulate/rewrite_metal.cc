// The words of MSL that no header can explain, besides threadgroup variables: address spaces, attributes,
// constructors of vectors, half literals, function constants, and which functions are kernels.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "emulate/rewrite.h"

namespace kforge::emulate {
namespace {

using Kind = Token::Kind;

bool is_vector_type(std::string_view word) {
  if (word.starts_with("packed_")) word.remove_prefix(7);
  constexpr std::array<std::string_view, 11> kScalars = {"float", "half",  "int",  "uint",  "short", "ushort",
                                                         "char",  "uchar", "long", "ulong", "bool"};
  if (word.size() < 4 || word.back() < '2' || word.back() > '4') return false;
  word.remove_suffix(1);
  return std::find(kScalars.begin(), kScalars.end(), word) != kScalars.end();
}

class MetalRewriter {
 public:
  MetalRewriter(TokenList& list, Rewritten& out) : list_(list), out_(out) {}

  void run() {
    find_kernels();
    for (std::size_t i = 0; i < list_.tokens.size(); ++i) {
      Token& token = list_.tokens[i];
      if (token.is("[") && at(i + 1).is("["))
        attribute(i);
      else if (token.kind == Kind::kNumber)
        number(token);
      else if (token.kind == Kind::kWord)
        word(i);
    }
  }

 private:
  const Token& at(std::size_t i) const {
    static const Token kNone;
    return i < list_.tokens.size() ? list_.tokens[i] : kNone;
  }
  Token* code(std::size_t i) {
    i = list_.next(i);
    return i < list_.tokens.size() ? &list_.tokens[i] : nullptr;
  }
  std::string file_of(const Token& token) const {
    const auto file = static_cast<std::size_t>(token.file);
    return file < list_.files.size() ? list_.files[file] : "";
  }

  void word(std::size_t i) {
    Token& token = list_.tokens[i];
    const std::string& text = token.text;
    if (text == "kernel" || text == "device" || text == "thread") {
      token.text.clear();
    } else if (text == "constant") {
      token.text = "const";
    } else if (is_vector_type(text)) {
      const Token* next = code(i + 1);
      const std::ptrdiff_t before = list_.previous(static_cast<std::ptrdiff_t>(i) - 1);
      const bool qualified = before >= 0 && list_.tokens[static_cast<std::size_t>(before)].is("::");
      if (next && next->is("(") && !qualified) token.text = "kfe::make<" + text + ">";
    } else if (text == "is_function_constant_defined") {
      defined(i);
    }
  }

  // is_function_constant_defined(name)
  void defined(std::size_t i) {
    Token* open = code(i + 1);
    if (!open || !open->is("(")) return;
    Token* name = code(list_.next(i + 1) + 1);
    if (!name || name->kind != Kind::kWord) return;
    list_.tokens[i].text = "kfe_constants::kfe_is_defined";
    name->text = "kfe_constants::" + name->text;
  }

  // 1.5h
  static void number(Token& token) {
    std::string& text = token.text;
    if (text.starts_with("0x") || text.starts_with("0X") || (text.back() != 'h' && text.back() != 'H'))
      return;
    text.pop_back();
    const bool whole = text.find_first_of(".eE") == text.npos;
    text = "(static_cast<half>(" + text + (whole ? ".0f" : "f") + "))";
  }

  // `[[name(3), ...]]` at the open brackets goes away, blanks and line ends stay. A function constant gets
  // its value.
  void attribute(std::size_t open) {
    const std::size_t close = list_.closing(open);
    for (std::size_t i = open; i < close && i < list_.tokens.size(); ++i)
      if (list_.tokens[i].is("function_constant")) function_constant(open);
    for (std::size_t i = open; i <= close && i < list_.tokens.size(); ++i)
      if (list_.tokens[i].is_code()) list_.tokens[i].text.clear(), list_.tokens[i].kind = Kind::kBlank;
  }

  // `constant T name [[function_constant(n)]];`
  void function_constant(std::size_t open) {
    const std::ptrdiff_t name = list_.previous(static_cast<std::ptrdiff_t>(open) - 1);
    if (name < 0) return;
    Token& token = list_.tokens[static_cast<std::size_t>(name)];
    if (token.kind != Kind::kWord) return;
    // The type is what stands between `constant` (by now `const`) and the name.
    std::string type;
    for (std::ptrdiff_t i = list_.previous(name - 1); i >= 0; i = list_.previous(i - 1)) {
      const Token& part = list_.tokens[static_cast<std::size_t>(i)];
      if (part.is("const") || part.is(";") || part.is("}")) break;
      if (!part.is("static") && !part.is("constexpr")) type = part.text + " " + type;
    }
    out_.constants.push_back(token.text);
    token.text += " = static_cast<" + type + ">(kfe_constants::" + token.text + ".value)";
  }

  void find_kernels() {
    for (std::size_t i = 0; i < list_.tokens.size(); ++i) {
      if (list_.tokens[i].is("template") && code(i + 1) && code(i + 1)->is("["))
        instantiation(i);
      else if (list_.tokens[i].is("kernel"))
        definition(i);
    }
  }

  // `kernel void name(T a [[buffer(0)]], ...)`, also `[[kernel]] void name(...)`.
  void definition(std::size_t i) {
    const std::size_t open = opening_of_parameters(i + 1);
    if (open >= list_.tokens.size()) return;
    const Token& name =
        list_.tokens[static_cast<std::size_t>(list_.previous(static_cast<std::ptrdiff_t>(open) - 1))];
    if (name.kind != Kind::kWord) return;
    KernelSignature kernel{name.text, name.line, {}, ""};
    read_parameters(open, kernel);
    if (std::ranges::find(out_.kernels, kernel.name, &KernelSignature::name) == out_.kernels.end())
      out_.kernels.push_back(std::move(kernel));
  }

  // `template [[host_name("x")]] kernel void name<T>(...);`: kernel x, with the parameters of its template.
  void instantiation(std::size_t i) {
    std::string host;
    std::size_t at = i;
    for (; at < list_.tokens.size() && !list_.tokens[at].is(";"); ++at)
      if (list_.tokens[at].is("host_name"))
        for (std::size_t s = at; s < list_.tokens.size() && !list_.tokens[s].is(";"); ++s)
          if (list_.tokens[s].kind == Kind::kString) {
            host = list_.tokens[s].text;
            break;
          }
    if (host.size() < 3) return;
    host = host.substr(1, host.size() - 2);
    // The last name with template arguments before the parameters or the end.
    std::string callee, base;
    for (std::size_t s = i; s < at; ++s) {
      if (list_.tokens[s].kind != Kind::kWord || !code(s + 1) || !code(s + 1)->is("<")) continue;
      const std::size_t open = list_.next(s + 1), close = list_.closing(open);
      base = list_.tokens[s].text;
      callee = base;
      for (std::size_t p = open; p <= close && p < at; ++p)
        callee += list_.tokens[p].kind == Kind::kBlank ? " " : list_.tokens[p].text;
    }
    const auto known = std::ranges::find(out_.kernels, base, &KernelSignature::name);
    if (known == out_.kernels.end()) return;
    KernelSignature kernel{host, list_.tokens[i].line, known->parameters, callee};
    out_.kernels.push_back(std::move(kernel));
    // The declaration itself has done its duty: the thunk instantiates.
    for (std::size_t s = i; s <= at && s < list_.tokens.size(); ++s)
      if (list_.tokens[s].is_code()) list_.tokens[s].text.clear(), list_.tokens[s].kind = Kind::kBlank;
  }

  std::size_t opening_of_parameters(std::size_t from) const {
    for (std::size_t i = from; i < list_.tokens.size(); ++i) {
      const Token& token = list_.tokens[i];
      if (token.is(";") || token.is("{")) break;
      if (token.is("["))
        i = list_.closing(i);
      else if (token.is("("))
        return i;
    }
    return list_.tokens.size();
  }

  void read_parameters(std::size_t open, KernelSignature& kernel) {
    const std::size_t close = list_.closing(open);
    KernelParameter parameter;
    bool any = false;
    int depth = 0, buffers = 0;
    auto finish = [&](const Token& where) {
      if (!any) return;
      if (parameter.attribute.empty())
        out_.errors.push_back(
            {"a parameter of kernel " + kernel.name + " has no attribute such as [[buffer(0)]]",
             file_of(where), where.line});
      kernel.parameters.push_back(std::exchange(parameter, {}));
      any = false;
    };
    for (std::size_t i = open + 1; i < close; ++i) {
      const Token& token = list_.tokens[i];
      if (!token.is_code()) continue;
      if (token.is("[") && at(i + 1).is("[")) {
        const std::size_t end = list_.closing(i);
        read_attribute(i + 2, end, parameter, buffers);
        i = end;
        continue;
      }
      if (token.is("(") || token.is("<") || token.is("[")) ++depth;
      if (token.is(")") || token.is(">") || token.is("]")) --depth;
      if (depth == 0 && token.is(","))
        finish(token);
      else
        any = true;
    }
    finish(list_.tokens[std::min(close, list_.tokens.size() - 1)]);
  }

  void read_attribute(std::size_t from, std::size_t end, KernelParameter& parameter, int& buffers) const {
    for (std::size_t i = from; i < end; ++i) {
      const Token& token = list_.tokens[i];
      if (token.kind == Kind::kWord && token.text != "maybe_unused" && token.text != "function_constant") {
        parameter.attribute = token.text;
        if (token.text == "buffer") parameter.index = buffers++;
      }
      if (token.kind == Kind::kNumber) parameter.index = std::atoi(token.text.c_str());
      if (token.is(",")) break;
    }
  }

  TokenList& list_;
  Rewritten& out_;
};

}  // namespace

void rewrite_metal(TokenList& list, Rewritten& out) { MetalRewriter(list, out).run(); }

}  // namespace kforge::emulate
