// What the candidate's object file leaves undefined, read by trusted code: the only calls that device code
// may make are of the emulator's runtime and of mathematics.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/failure.h"

namespace kforge::emulate {

// Names that a relocatable ELF file of 64 bits refers to and does not define; nothing for a file that is
// malformed.
std::optional<std::vector<std::string>> undefined_symbols(std::string_view object);

// Rejected (gate "symbols") with the first name that is not allowed.
std::optional<Rejected> check_object(std::string_view object, bool checking);

}  // namespace kforge::emulate
