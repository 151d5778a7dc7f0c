// Writes a message of its own to the channel between the runner and KForge.
//
// expect: outcome=rejected|crash
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "honest.h"

extern "C" void kernel(KERNEL_PARAMETERS) {
  honest_kernel(KERNEL_ARGUMENTS);
  struct {
    uint32_t type, payload;
    uint64_t value, nanoseconds;
  } report = {0x5ead, 0, 0, 1};
  syscall(SYS_write, 3, &report, sizeof report);
}
