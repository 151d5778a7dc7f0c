// How device code is compiled for this processor: the emulator's headers, then what was rewritten.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "emulate/rewrite.h"
#include "emulate/variant.h"

namespace kforge::emulate {

// The compiler with what the language needs; `include` is the folder of the emulator's headers, `sources`
// that of the candidate's files.
std::vector<std::string> language_line(Language language, const std::filesystem::path& clang,
                                       const std::filesystem::path& include,
                                       const std::filesystem::path& sources);
// The compiler for rewritten text.
std::vector<std::string> compile_line(Variant variant, const std::filesystem::path& clang);

}  // namespace kforge::emulate
