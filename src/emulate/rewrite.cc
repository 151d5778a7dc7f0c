#include "emulate/rewrite.h"

namespace kforge::emulate {

Rewritten rewrite(Language language, std::string_view text, std::string_view own) {
  TokenList list = tokenise(text, own);
  Rewritten out;
  if (language == Language::kCuda) {
    rewrite_ptx(list, out);  // before anything that is not PTX is refused
    refuse_host_code(list, out);
    find_unsupported(language, list, out);
    rewrite_cuda(list, out);
    rewrite_shared(list, "__shared__", out);
  } else {
    refuse_host_code(list, out);
    find_unsupported(language, list, out);
    rewrite_metal(list, out);
    rewrite_shared(list, "threadgroup", out);
  }
  out.text = list.text();
  return out;
}

}  // namespace kforge::emulate
