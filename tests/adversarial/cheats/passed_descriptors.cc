// Sends copies of its own file descriptors to the parent, again and again, to fill the parent's table.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=rejected|crash|wrong_value|passed
#include <sys/socket.h>
#include <sys/syscall.h>

#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

// The kernel's own door to the system: no symbol to see, only an instruction.
static long raw(long n, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
               : "rcx", "r11", "memory");
  return result;
}

extern "C" void kernel(const float* x, float* y) {
  static const unsigned message[6] = {10, 0, 0, 0, 1, 0};
  iovec part{const_cast<unsigned*>(message), sizeof message};
  alignas(cmsghdr) char control[CMSG_SPACE(200 * sizeof(int))] = {};
  msghdr packet{};
  packet.msg_iov = &part;
  packet.msg_iovlen = 1;
  packet.msg_control = control;
  packet.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&packet);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(200 * sizeof(int));
  for (int i = 0; i < 200; ++i) reinterpret_cast<int*>(CMSG_DATA(header))[i] = 3;
  raw(SYS_sendmsg, 3, reinterpret_cast<long>(&packet), 0);
  relu(x, y);
}
