// Gate 13: what a native artefact defines and imports, read from the ELF file by trusted code.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/failure.h"
#include "base/result.h"

namespace kforge {

struct DynamicSymbols {
  std::vector<std::string> imports, exports, needed;  // needed: DT_NEEDED libraries
};
// Any file is accepted as hostile: a malformed one is a Rejected, never a crash.
Step<DynamicSymbols> read_dynamic_symbols(const std::filesystem::path& artefact);

// Rejected (gate "symbols") when it defines a name of libc, libm, libgomp, libstdc++ or the loader, or imports one that
// matches none of the patterns.
std::optional<Rejected> check_symbols(const DynamicSymbols& symbols, const std::vector<std::string>& allowed_imports);

}  // namespace kforge
