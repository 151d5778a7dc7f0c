// Asks for a process of its own.
//
// expect: outcome=rejected gate=symbols
#include <unistd.h>

#include "honest.h"

extern "C" void kernel(KERNEL_PARAMETERS) {
  honest_kernel(KERNEL_ARGUMENTS);
  if (fork() == 0) _exit(0);
}
