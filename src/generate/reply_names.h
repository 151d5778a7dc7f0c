// Which file a block of a reply is, from what stands behind its fence, above it, or in its first line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generate/reply_blocks.h"

namespace kforge {

// A usable name with one of the endings, without "./" and leading folders that models add; "" when the block
// is not named. `outside` becomes true for a name that points out of the program's folder.
std::string name_of_block(const ReplyBlock& block, const std::vector<std::string>& extensions, bool& outside);

// The language behind the fence in small letters: "cpp"; "" when there is none.
std::string tag_of_block(const ReplyBlock& block);

// True when a block with this tag may hold source with this ending (an empty tag may hold anything).
bool tag_fits(std::string_view tag, std::string_view extension);

// True when `code` has `name` as a word followed by '('.
bool calls_or_defines(std::string_view code, std::string_view name);

}  // namespace kforge
