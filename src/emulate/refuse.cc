// What device code may not have: here it is host C++, so assembly, attributes that hide code from the checks,
// and the emulator's own names would be a way around them.
#include <algorithm>
#include <array>

#include "emulate/rewrite.h"

namespace kforge::emulate {
namespace {

SourceNote note_at(const TokenList& list, const Token& token, std::string what) {
  const auto file = static_cast<std::size_t>(token.file);
  return {std::move(what), file < list.files.size() ? list.files[file] : "", token.line};
}

bool harmless_attribute(std::string_view word) {
  constexpr std::array<std::string_view, 22> kKnown = {
      "aligned", "__aligned__", "always_inline", "__always_inline__", "noinline",     "__noinline__",
      "packed",  "__packed__",  "unused",        "__unused__",        "maybe_unused", "nodiscard",
      "likely",  "unlikely",    "fallthrough",   "may_alias",         "vector_size",  "ext_vector_type",
      "pure",    "const",       "deprecated",    "restrict"};
  return std::find(kKnown.begin(), kKnown.end(), word) != kKnown.end();
}

bool host_builtin(std::string_view word) {
  for (std::string_view prefix :
       {"__builtin_ia32_", "__builtin_nontemporal", "__builtin_setjmp", "__builtin_longjmp",
        "__builtin_frame_address", "__builtin_return_address", "__builtin_arm_", "__builtin_thread_pointer",
        "__builtin_eh_", "__builtin_unwind", "__builtin_alloca"})
    if (word.starts_with(prefix)) return true;
  return false;
}

// `__attribute__((a, b(3)))`: the first word of each that is not known as harmless.
void look_at_attribute(const TokenList& list, std::size_t at, Rewritten& out) {
  const std::size_t open = list.next(at + 1);
  if (open >= list.tokens.size()) return;
  const std::size_t close = list.closing(open);
  int depth = 0;
  for (std::size_t i = open; i < close; ++i) {
    const Token& token = list.tokens[i];
    if (token.is("(")) ++depth;
    if (token.is(")")) --depth;
    if (depth == 2 && token.kind == Token::Kind::kWord && !harmless_attribute(token.text))
      out.refused.push_back(note_at(list, token, "attribute " + token.text));
  }
}

}  // namespace

void refuse_host_code(const TokenList& list, Rewritten& out) {
  for (std::size_t i = 0; i < list.tokens.size(); ++i) {
    const Token& token = list.tokens[i];
    if (token.kind == Token::Kind::kLine && token.text.find("pragma") != std::string::npos) {
      for (std::string_view word :
           {"attribute", "optimize", "target", "weak", "redefine_extname", "section", "comment"})
        if (token.text.find(word) != std::string::npos)
          out.refused.push_back(note_at(list, token, "#pragma " + std::string(word)));
    }
    if (token.kind != Token::Kind::kWord) continue;
    const std::string& word = token.text;
    if (word == "asm" || word == "__asm__" || word == "__asm")
      out.refused.push_back(note_at(list, token, "inline assembly"));
    else if (word == "__attribute__" || word == "__attribute")
      look_at_attribute(list, i, out);
    else if (word == "__declspec" || word == "thread_local" || word == "__thread" ||
             word == "_Thread_local" || word == "__try" || word == "co_await" ||
             word == "goto" + std::string("*"))
      out.refused.push_back(note_at(list, token, word));
    else if ((word == "gnu" || word == "clang") && list.next(i + 1) < list.tokens.size() &&
             list.tokens[list.next(i + 1)].is("::"))
      out.refused.push_back(note_at(list, token, "attributes of " + word));
    else if (word.starts_with("kfe") || word.starts_with("Kfe") || word.starts_with("__tsan") ||
             word.starts_with("__ubsan") || word.starts_with("__asan") || word.starts_with("__sanitizer") ||
             word.starts_with("_ZN3kfe"))
      out.refused.push_back(note_at(list, token, "the name " + word + ", which is the emulator's"));
    else if (host_builtin(word))
      out.refused.push_back(note_at(list, token, word));
  }
}

}  // namespace kforge::emulate
