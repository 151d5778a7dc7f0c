// The precompiled header of a platform: parsed once per compiler and set of flags by trusted code, read by
// every candidate's compilation. A small kernel then compiles three to four times faster.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "build/choices.h"

namespace kforge {

struct PrecompiledHeader {
  std::string text;  // "#include <immintrin.h>\n...", read where the other is not usable
  std::optional<std::filesystem::path> compiled;  // in KForge's home; nothing: only the text
};

// `argv` is the platform's build line. The first build with flags that a candidate chose itself does without
// (most such flags are tried once); the second finds it worth the effort. Trouble means "only the text",
// never an error.
PrecompiledHeader precompiled_header(const Platform& platform, const BuildChoices& choices);

// False when the compiled header has changed since it was made (a damaged disk): it is then forgotten, and
// the next call of precompiled_header() makes it again.
bool still_sound(const PrecompiledHeader& header);

// Puts both files into `folder` (a link where possible: the compiled one has some fifty megabytes).
Result<void> stage_precompiled(const PrecompiledHeader& header, const std::filesystem::path& folder);

inline constexpr const char* kPrecompiledName = "kforge_prelude.h";

}  // namespace kforge
