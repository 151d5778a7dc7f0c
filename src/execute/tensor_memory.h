// The shared memory through which tensors travel: params and inputs sealed against programs and shared by
// all of them, outputs and inouts writable, and private to one program or to those that take turns. Every
// instance of a tensor lies between canaries and guard pages (the layout is described in runner/protocol.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "runner/protocol.h"
#include "task/task.h"

namespace kforge {

// Where each argument lies, for a number of slots (one slot is one call's worth of tensors).
struct MemoryLayout {
  std::uint32_t slots = 0;
  std::vector<KforgeArgumentRow> rows;  // in C order
  std::size_t arena_bytes[3] = {};      // by KforgeArena

  static MemoryLayout of(const BoundTask& task, std::uint32_t slots);
  std::size_t bytes() const { return arena_bytes[0] + arena_bytes[1] + arena_bytes[2]; }
  // Bytes one more slot costs.
  static std::size_t bytes_per_slot(const BoundTask& task);
};

// One arena: a sealed memfd and the parent's writable view of it.
class TensorMemory {
 public:
  // `sealed`: nobody but this view can ever write to it, whatever a program does to its mappings.
  static Result<TensorMemory> create(const MemoryLayout& layout, KforgeArena arena, bool sealed);

  int fd() const { return fd_.get(); }
  // REQUIRES: the argument lives in this arena.
  std::span<std::byte> tensor(std::size_t argument, std::uint32_t slot) const;
  // Everything around the data of one instance gets the canary pattern.
  void set_canaries(std::size_t argument, std::uint32_t slot) const;
  // Distance in bytes from the tensor to the first touched canary: negative before it, positive after its
  // end.
  std::optional<std::int64_t> broken_canary(std::size_t argument, std::uint32_t slot) const;
  // Takes the pages out of this process's view; the values stay where they are, and come back when looked at.
  // With several programs and slots it would otherwise hold many times the tensors.
  void let_go() const;
  // From now on the pages stay in view: of memory that is written again and again, where bringing them in and
  // letting them go would take longer than what is timed. Not where there is too much of it.
  void stay_in_view();
  bool stays_in_view() const { return stays_; }

 private:
  const KforgeArgumentRow& row(std::size_t argument) const;

  KforgeArena arena_ = KFORGE_ARENA_INPUTS;
  std::vector<KforgeArgumentRow> rows_;
  std::uint32_t slots_ = 0;
  Fd fd_;
  Mapping map_;
  std::byte canary_{};
  bool stays_ = false;
};

// Params and inputs of a task: one per judging, shared by its programs.
struct InputMemory {
  MemoryLayout layout;
  TensorMemory params, inputs;
  // Of programs that are timed in turns; null: each has outputs of its own. Where memory lies in the machine
  // makes the same code several percent slower or faster for as long as its process lives.
  std::shared_ptr<const TensorMemory> outputs = nullptr;

  // The same for the buffers of devices that are this processor: each program's own from one upload to the
  // download after it.
  std::shared_ptr<const Fd> device = nullptr;

  static Result<InputMemory> create(const BoundTask& task, std::uint32_t slots);
  // With `outputs`. Every slot is reset before every batch: two programs that know of each other could pass
  // answers on in it.
  static Result<InputMemory> create_for_turns(const BoundTask& task, std::uint32_t slots);
};

// What an output holds before a call: for floats a NaN with a payload no arithmetic makes, else a bit pattern
// drawn from the seed. A call that leaves it in place is seen.
void poison(DType dtype, std::uint64_t seed, std::span<std::byte> destination);
// Elements that still hold the poison.
std::int64_t count_poison(DType dtype, std::uint64_t seed, std::span<const std::byte> data);

}  // namespace kforge
