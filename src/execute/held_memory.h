// What programs hold together. Each has a limit of its own, but several are alive at once (a program, a
// second process of it, the best so far): together they could exceed the machine.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace kforge {

// A program that is alive. The tensors, which all of them share, do not count.
class HeldMemory {
 public:
  explicit HeldMemory(pid_t program);
  ~HeldMemory();
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;

  std::size_t bytes() const;
  // Of every one that lives.
  static std::size_t bytes_together();

 private:
  const pid_t program_;
};

}  // namespace kforge
