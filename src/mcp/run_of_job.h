// The stored run or suite that a job works on, found by its folder: also a job of another server.
#pragma once

#include "mcp/own_program.h"

namespace kforge::mcp {

// Its line of `kforge runs`; null: there is none (yet).
Json run_row(const OwnProgram& program, const fs::path& folder, const std::stop_token& stop);
// Its report so far; null likewise.
Json run_document(const OwnProgram& program, const fs::path& folder, const std::stop_token& stop);

}  // namespace kforge::mcp
