// The program's side of runner/protocol.h for trusted programs (the baselines): maps the arenas, answers
// the messages. The sandboxed runner has its own, which depends on nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "runner/protocol.h"

namespace kforge {

// Where the parent put every tensor. Pointers stay valid for the life of the program.
class ArgumentTable {
 public:
  static Result<ArgumentTable> map(std::uint32_t slots, std::vector<KforgeArgumentRow> rows, Fd files[3]);

  std::size_t size() const { return rows_.size(); }
  std::uint32_t slots() const { return slots_; }
  std::size_t bytes(std::size_t argument) const { return rows_[argument].data_bytes; }
  std::byte* data(std::size_t argument, std::uint32_t slot) const;

 private:
  std::uint32_t slots_ = 0;
  std::vector<KforgeArgumentRow> rows_;
  Mapping arenas_[3];
};

// What a baseline does; an Error is told to the parent, who then counts the baseline as absent.
class ServedProgram {
 public:
  virtual ~ServedProgram() = default;

  virtual Result<void> load(const ArgumentTable& arguments) = 0;
  // The params in the arena are new; whatever was derived from the old ones is stale.
  virtual Result<void> prepare() = 0;
  // REQUIRES: prepare() succeeded and slot < arguments.slots().
  virtual Result<void> call(std::uint32_t slot) = 0;
};

// Serves until the parent says exit or goes away; returns the exit code.
int serve_program(ServedProgram& program, int control_fd = KFORGE_CONTROL_FD);

}  // namespace kforge
