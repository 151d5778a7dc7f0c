// The fast variant: what cannot go on ends the process, with the reason on stderr.
#include <stdio.h>
#include <stdlib.h>

#include "checks.h"

namespace kfe::checks {

void deadlock(const Thread* const (&at)[2], const uint32_t (&counts)[2]) {
  for (int i = 0; i < 2; ++i)
    if (at[i])
      fprintf(stderr, "%s %u threads of a block wait at a %s in %s:%d\n", i ? "and" : "deadlock:", counts[i],
              at[i]->wait == Thread::kBarrier ? "barrier" : "warp function", at[i]->file, at[i]->line);
  abort();
}

void trap(const char* what, const char* file, int line) {
  fprintf(stderr, "the kernel stopped itself in %s:%d: %s\n", file, line, what);
  abort();
}

void limit(const char* what) {
  fprintf(stderr, "launch refused: %s\n", what);
  abort();
}

}  // namespace kfe::checks
