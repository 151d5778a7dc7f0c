// Stacks and the switch between them: a thread of a GPU that waits keeps its stack, and another one goes on.
// Own assembly, because what the C library has for it makes a system call each time (276 ns instead of 20).
#pragma once

#include <stddef.h>

namespace kfe {

struct Fiber {
  void* stack_pointer = nullptr;  // while it does not run
  char* low = nullptr;            // of its stack, above a guard page
  char* high = nullptr;
  Fiber* next = nullptr;  // in the list of free ones
};

inline constexpr size_t kStackBytes = 128 << 10;

// A stack of its own, from the pool; it will run `main` when switched to.
class FiberPool {
 public:
  Fiber* take(void (*main)());
  void give_back(Fiber* fiber) {
    fiber->next = free_;
    free_ = fiber;
  }
  void release();  // all stacks; none may be in use

 private:
  void grow();
  Fiber* free_ = nullptr;
  struct Chunk* chunks_ = nullptr;
};

extern "C" void kfe_switch(void** save_stack_pointer, void* load_stack_pointer);

}  // namespace kfe
