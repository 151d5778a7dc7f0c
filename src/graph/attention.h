// Attention and RotaryEmbedding of opset 23, written out in operators of opset 17.
#pragma once

#include "graph/rewrite.h"

namespace kforge {

Result<NodeList> rewrite_attention(const RewriteSite& site);
Result<NodeList> rewrite_rotary_embedding(const RewriteSite& site);

}  // namespace kforge
