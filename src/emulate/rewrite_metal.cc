#include "emulate/rewrite.h"

namespace kforge::emulate {
void rewrite_metal(TokenList&, Rewritten&) {}
}  // namespace kforge::emulate
