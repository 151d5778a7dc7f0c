// Shared (threadgroup) variables. `__shared__ T a[X][Y], b;` in a function becomes a reference into the arena
// of the block, with a typedef that leaves the declarator as it was:
//   typedef T t_a[X][Y]; static KfeSite s_a{...}; t_a& a = kfe::shared<t_a>(s_a);
// and `extern __shared__ T d[];` a pointer to the launch's dynamic shared memory.
#include <algorithm>
#include <optional>
#include <utility>

#include "emulate/rewrite.h"

namespace kforge::emulate {
namespace {

using Kind = Token::Kind;

// Which braces are open, and whether any is a function's.
class Scopes {
 public:
  void step(const TokenList& list, std::size_t at) {
    const Token& token = list.tokens[at];
    if (token.kind != Kind::kSign) return;
    if (token.text == "{") open_.push_back(is_function(list, at) || in_function());
    if (token.text == "}" && !open_.empty()) open_.pop_back();
  }
  bool in_function() const { return !open_.empty() && open_.back(); }

 private:
  // Braces of namespaces, classes and `extern "C"` hold declarations; all others are code.
  static bool is_function(const TokenList& list, std::size_t brace) {
    for (std::ptrdiff_t i = list.previous(static_cast<std::ptrdiff_t>(brace) - 1); i >= 0;
         i = list.previous(i - 1)) {
      const Token& token = list.tokens[static_cast<std::size_t>(i)];
      if (token.is(";") || token.is("{") || token.is("}")) return false;
      if (token.is(")")) return true;
      if (token.is("namespace") || token.is("struct") || token.is("class") || token.is("union") ||
          token.is("enum"))
        return false;
      if (token.kind == Kind::kString) return false;  // extern "C"
    }
    return false;
  }
  std::vector<bool> open_;
};

struct Declarator {
  std::string before, name, after;  // "*", "a", "[X][Y]"
};

struct Declaration {
  std::size_t begin = 0, end = 0;  // tokens; end: the semicolon
  bool dynamic = false;
  std::string type, alignment;
  std::vector<Declarator> declarators;
  int lines = 0;  // line ends inside
};

std::string joined(const TokenList& list, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i)
    text += list.tokens[i].kind == Kind::kBlank ? " " : list.tokens[i].text;
  const std::size_t first = text.find_first_not_of(' ');
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

class SharedRewriter {
 public:
  SharedRewriter(TokenList& list, std::string_view keyword, Rewritten& out)
      : list_(list), keyword_(keyword), out_(out) {}

  void run() {
    for (std::size_t i = 0; i < list_.tokens.size(); ++i) {
      scopes_.step(list_, i);
      Token& token = list_.tokens[i];
      if (token.kind != Kind::kWord) continue;
      if (token.text == keyword_)
        i = declaration(i);
      else if (const std::string* type = substituted(token.text); type && !is_member(i))
        token.text = "(reinterpret_cast<" + *type + "*>(kfe_dynamic_shared))";
    }
  }

 private:
  const std::string* substituted(const std::string& name) const {
    for (const auto& [known, type] : at_file_scope_)
      if (known == name) return &type;
    return nullptr;
  }
  bool is_member(std::size_t at) const {
    const std::ptrdiff_t before = list_.previous(static_cast<std::ptrdiff_t>(at) - 1);
    if (before < 0) return false;
    const Token& token = list_.tokens[static_cast<std::size_t>(before)];
    return token.is(".") || token.is("->") || token.is("::");
  }

  void error(std::size_t at, std::string what) {
    const auto file = static_cast<std::size_t>(list_.tokens[at].file);
    out_.errors.push_back(
        {std::move(what), file < list_.files.size() ? list_.files[file] : "", list_.tokens[at].line});
  }

  // Rewrites the declaration around the keyword at `at`; returns its last token.
  std::size_t declaration(std::size_t at) {
    auto found = read(at);
    // A pointer or reference to shared memory, a parameter: nothing but a plain one here.
    if (!found) {
      list_.tokens[at].text.clear();
      return at;
    }
    const Declaration& d = *found;
    const Token first = list_.tokens[d.begin];
    std::string text;
    for (const Declarator& one : d.declarators) text += d.dynamic ? dynamic(d, one) : fixed(d, one, first);
    if (!scopes_.in_function()) {
      if (d.dynamic) {
        for (const Declarator& one : d.declarators)
          at_file_scope_.emplace_back(one.name, d.type + one.before);
        text.clear();
      } else {
        error(at, "a shared variable outside of a function: declare it in the kernel");
      }
    }
    for (std::size_t i = d.begin; i <= d.end; ++i) {
      list_.tokens[i].kind = Kind::kBlank;
      list_.tokens[i].text.clear();
    }
    list_.tokens[d.begin].text = text + std::string(static_cast<std::size_t>(d.lines), '\n');
    return d.end;
  }

  std::optional<Declaration> read(std::size_t at) const {
    Declaration d;
    d.begin = at;
    // Words before it: extern, static, volatile, alignas(16), unsigned.
    for (std::ptrdiff_t i = list_.previous(static_cast<std::ptrdiff_t>(at) - 1); i >= 0;
         i = list_.previous(i - 1)) {
      const Token& token = list_.tokens[static_cast<std::size_t>(i)];
      if (token.is("(") || token.is(",") || token.is("<")) return std::nullopt;  // a parameter
      if (token.is(";") || token.is("{") || token.is("}") || token.is(":")) break;
      if (token.is(")") && !after_alignment(static_cast<std::size_t>(i))) break;
      d.begin = static_cast<std::size_t>(i);
    }
    std::vector<std::size_t> words;  // tokens of type and declarators
    std::size_t i = d.begin;
    int depth = 0, angle = 0;
    for (; i < list_.tokens.size(); ++i) {
      const Token& token = list_.tokens[i];
      d.lines += static_cast<int>(std::count(token.text.begin(), token.text.end(), '\n'));
      if (token.kind == Kind::kLine || token.is("{") || token.is("}")) return std::nullopt;
      if (depth == 0 && token.is(";")) break;
      if (token.is("(") || token.is("[")) ++depth;
      if (token.is(")") || token.is("]")) --depth;
      if (depth < 0) return std::nullopt;  // the parameter list ends: it was one of them
      if (token.is(keyword_) || token.is("static") || token.is("constexpr")) continue;
      if (token.is("extern")) {
        d.dynamic = true;
        continue;
      }
      if (token.is("alignas") || token.is("__attribute__") || token.is("__attribute")) {
        const std::size_t open = list_.next(i + 1);
        if (open >= list_.tokens.size()) return std::nullopt;
        const std::size_t close = list_.closing(open);
        d.alignment = alignment_in(open, close);
        i = close;
        continue;
      }
      if (token.is_code()) words.push_back(i);
    }
    if (i >= list_.tokens.size() || words.empty()) return std::nullopt;
    d.end = i;
    // The type ends before the first declarator: before its name and the stars at it.
    std::size_t name = words.size();
    depth = 0;
    for (std::size_t w = 0; w < words.size(); ++w) {
      const Token& token = list_.tokens[words[w]];
      if (token.is("<")) ++angle;
      if (token.is(">") && angle > 0) --angle;
      if (angle > 0) continue;
      const bool ends = w + 1 == words.size() || list_.tokens[words[w + 1]].is("[") ||
                        list_.tokens[words[w + 1]].is(",") || list_.tokens[words[w + 1]].is("=") ||
                        list_.tokens[words[w + 1]].is("(");
      if (token.is("*") && keyword_ == "threadgroup") return std::nullopt;  // a pointer to threadgroup memory
      if (token.is("&")) return std::nullopt;
      if (token.kind == Kind::kWord && ends) {
        name = w;
        break;
      }
    }
    if (name == words.size() || name == 0) return std::nullopt;
    std::size_t type_end = name;
    while (type_end > 0 && list_.tokens[words[type_end - 1]].is("*")) --type_end;
    for (std::size_t w = 0; w < type_end; ++w) d.type += (w ? " " : "") + list_.tokens[words[w]].text;
    // The declarators.
    Declarator one;
    depth = angle = 0;
    for (std::size_t w = type_end; w <= words.size(); ++w) {
      const Token* token = w < words.size() ? &list_.tokens[words[w]] : nullptr;
      if (!token || (depth == 0 && token->is(","))) {
        if (one.name.empty()) return std::nullopt;
        d.declarators.push_back(std::exchange(one, {}));
        continue;
      }
      if (token->is("(") || token->is("[") || token->is("{")) ++depth;
      if (token->is(")") || token->is("]") || token->is("}")) --depth;
      if (one.name.empty() && token->kind == Kind::kWord)
        one.name = token->text;
      else
        (one.name.empty() ? one.before : one.after) += token->text + " ";
    }
    return d;
  }

  // Whether the `)` at `close` ends an alignas(...) or an attribute.
  bool after_alignment(std::size_t close) const {
    int depth = 0;
    for (std::ptrdiff_t i = static_cast<std::ptrdiff_t>(close); i >= 0; --i) {
      const Token& token = list_.tokens[static_cast<std::size_t>(i)];
      if (token.is(")")) ++depth;
      if (token.is("(") && --depth == 0) {
        const std::ptrdiff_t before = list_.previous(i - 1);
        return before >= 0 && (list_.tokens[static_cast<std::size_t>(before)].is("alignas") ||
                               list_.tokens[static_cast<std::size_t>(before)].is("__attribute__"));
      }
    }
    return false;
  }

  // The expression of `(16)` or `((aligned(16)))`.
  std::string alignment_in(std::size_t open, std::size_t close) const {
    std::size_t begin = open + 1, end = close;
    for (std::size_t i = open; i < close; ++i)
      if (list_.tokens[i].is("aligned") || list_.tokens[i].is("__aligned__")) {
        const std::size_t inner = list_.next(i + 1);
        begin = inner + 1;
        end = list_.closing(inner);
      }
    return joined(list_, begin, std::min(end, close));
  }

  static std::string dynamic(const Declaration& d, const Declarator& one) {
    return "typedef " + d.type + " " + one.before + "kfe_t_" + one.name + "; kfe_t_" + one.name + "* " +
           one.name + " = reinterpret_cast<kfe_t_" + one.name + "*>(kfe_dynamic_shared);";
  }

  std::string fixed(const Declaration& d, const Declarator& one, const Token& first) const {
    const std::string type = "kfe_t_" + one.name, site = "kfe_s_" + one.name;
    const std::string alignment = d.alignment.empty() ? "alignof(" + type + ")" : "(" + d.alignment + ")";
    const auto file = static_cast<std::size_t>(first.file);
    return "typedef " + d.type + " " + one.before + type + " " + one.after + "; static KfeSite " + site +
           "{0, sizeof(" + type + "), " + alignment + ", kfe::element_of<" + type + ">::bytes, \"" +
           one.name + "\", \"" + (file < list_.files.size() ? list_.files[file] : "") + "\", " +
           std::to_string(first.line) + "}; " + type + "& " + one.name + " = kfe::shared<" + type + ">(" +
           site + ");";
  }

  TokenList& list_;
  std::string_view keyword_;
  Rewritten& out_;
  Scopes scopes_;
  std::vector<std::pair<std::string, std::string>> at_file_scope_;  // dynamic ones: name, type
};

}  // namespace

void rewrite_shared(TokenList& list, std::string_view keyword, Rewritten& out) {
  SharedRewriter(list, keyword, out).run();
}

}  // namespace kforge::emulate
