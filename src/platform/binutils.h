// What a program of binutils says about a compiled library. It runs inside the sandbox: code and debug
// information are the candidate's.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/sandbox.h"

namespace kforge {

struct BinutilsCall {
  std::string program;               // "addr2line"
  std::vector<std::string> options;  // before the library's name
  std::vector<std::string> words;    // after it
  std::size_t most_output = 1 << 20;
  std::string machine;                         // the library is for this one; "": the one KForge runs on
  std::vector<std::filesystem::path> folders;  // besides /usr, where programs are looked for and may read
};

// What it printed; untrusted. An Error when it is not installed or did not end well.
Result<std::string> ask_binutils(const BinutilsCall& call, const std::filesystem::path& library,
                                 SandboxTier tier);

}  // namespace kforge
