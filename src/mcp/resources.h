// What an assistant may read by address: kforge://result/ID, kforge://result/ID/source,
// kforge://platform/NAME/notes.
#pragma once

#include "mcp/own_program.h"

namespace kforge::mcp {

class Resources {
 public:
  explicit Resources(const OwnProgram& program) : program_(&program) {}

  Json list() const;  // notes of platforms, latest results
  static Json templates();
  // The list `contents` of the protocol.
  Result<Json> read(const std::string& uri) const;

 private:
  const OwnProgram* program_;
};

}  // namespace kforge::mcp
