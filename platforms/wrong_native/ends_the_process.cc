// Ends the process with code 0 in the middle of a call.
//
// expect: outcome=crash|rejected
#include <sys/syscall.h>
#include <unistd.h>

#include "honest.h"

extern "C" void kernel(KERNEL_PARAMETERS) {
  honest_kernel(KERNEL_ARGUMENTS);
  syscall(SYS_exit_group, 0);
}
