// The form in which expected outputs lie in the cache: numbers as they are in memory, texts and lists with
// their lengths before them. A file of another version, or one that does not fit, reads as nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "oracle/expected.h"

namespace kforge {

std::string write_expected(const Expected& expected);
std::optional<Expected> read_expected(std::string_view bytes);

}  // namespace kforge
