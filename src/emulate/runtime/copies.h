// Asynchronous copies to shared memory (cp.async): made when the thread waits for them, not before, so that
// who does not wait does not find them.
#pragma once

#include <stdint.h>

namespace kfe {

struct Copy {
  char* to;
  const char* from;
  uint32_t bytes, given;  // given: from the source; zeros after it
  uint32_t group;
  uintptr_t pc;  // of who asked for it
};

// Of one thread of the block, in order. All zero is its first state.
class Copies {
 public:
  void add(Copy copy);
  void commit() { ++open_; }
  // All but the last `left` groups that were committed.
  void wait(uint32_t left);
  // Those not committed, too: at the thread's own word, or with `ends` at its end, when nobody looks at them
  // anymore.
  void finish(bool ends);
  void release();

 private:
  void make_until(uint32_t group, bool ends);

  Copy* list_;
  uint32_t count_, room_;
  uint32_t open_;  // number of the group that is not committed yet
};

}  // namespace kfe
