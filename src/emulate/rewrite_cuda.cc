// The words of CUDA that no header can explain, besides shared variables: which functions are kernels, and
// launches, which belong in the plan.
#include "emulate/rewrite.h"

namespace kforge::emulate {
namespace {

using Kind = Token::Kind;

std::string file_of(const TokenList& list, const Token& token) {
  const auto file = static_cast<std::size_t>(token.file);
  return file < list.files.size() ? list.files[file] : "";
}

// The name and the number of parameters of the function that is declared from `at` on.
bool read_kernel(const TokenList& list, std::size_t at, KernelSignature& kernel) {
  for (std::size_t i = at; i < list.tokens.size(); ++i) {
    const Token& token = list.tokens[i];
    if (token.is(";") || token.is("{")) return false;
    if (!token.is("(")) continue;
    const std::ptrdiff_t name = list.previous(static_cast<std::ptrdiff_t>(i) - 1);
    if (name < 0 || list.tokens[static_cast<std::size_t>(name)].kind != Kind::kWord) return false;
    const Token& word = list.tokens[static_cast<std::size_t>(name)];
    if (word.text == "__attribute__" || word.text == "alignas") {
      i = list.closing(i);
      continue;
    }
    kernel.name = word.text;
    kernel.line = word.line;
    const std::size_t close = list.closing(i);
    int depth = 0;
    bool any = false;
    for (std::size_t p = i + 1; p < close; ++p) {
      const Token& part = list.tokens[p];
      if (!part.is_code() || part.is("void")) any |= part.is_code() && list.next(p + 1) != close;
      if (part.is("(") || part.is("[") || part.is("{") || part.is("<")) ++depth;
      if (part.is(")") || part.is("]") || part.is("}") || part.is(">")) --depth;
      if (part.is_code() && !part.is("void")) any = true;
      if (depth == 0 && part.is(",")) kernel.parameters.emplace_back();
    }
    if (any) kernel.parameters.emplace_back();
    return true;
  }
  return false;
}

}  // namespace

void rewrite_cuda(TokenList& list, Rewritten& out) {
  for (std::size_t i = 0; i < list.tokens.size(); ++i) {
    Token& token = list.tokens[i];
    if (token.is("<<<"))
      out.errors.push_back({"a launch (<<<...>>>) in the source: launches belong in plan.json",
                            file_of(list, token), token.line});
    if (token.kind != Kind::kWord) continue;
    if (token.text == "__global__") {
      KernelSignature kernel;
      if (read_kernel(list, i + 1, kernel)) out.kernels.push_back(std::move(kernel));
      token.text.clear();
    } else if (token.text == "__constant__") {
      token.text.clear();
    }
  }
}

}  // namespace kforge::emulate
