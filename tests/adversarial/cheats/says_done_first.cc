// Serves the harness's channel itself: for every batch it first says "done", with a short time of its own
// choosing, and works in the moment before it is stopped. One answer for every command, so nothing looks
// forged.
//
// task: core/matmul
// shapes: small
// mode: full
// expect: outcome=rejected|wrong_value|passed not_faster_than=matmul_loops
#include <sys/syscall.h>

#include "task.h"

// The kernel's own door to the system: no symbol to see, only an instruction.
static long raw(long n, long a = 0, long b = 0, long c = 0, long d = 0) {
  register long r10 asm("r10") = d;
  long result;
  asm volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return result;
}

// What the runner knows of one tensor: its stretch of addresses, and how many slots lie in it.
struct Region {
  char* at;
  unsigned long bytes;
  unsigned slots;
};
static const Region* find_region(const void* tensor, void* runner_code) {
  auto page = reinterpret_cast<unsigned long>(runner_code) & ~4095ul,
       inside = reinterpret_cast<unsigned long>(tensor);
  unsigned char resident;
  for (; raw(SYS_mincore, page, 4096, reinterpret_cast<long>(&resident)) == 0; page += 4096)
    for (auto at = page; at < page + 4096 - sizeof(Region); at += 8) {
      auto* found = reinterpret_cast<const Region*>(at);
      auto base = reinterpret_cast<unsigned long>(found->at);
      bool likely = base > 1ul << 40 && base % 4096 == 0 && found->bytes % 4096 == 0 && found->slots > 0;
      if (likely && found->slots <= 1024 && base <= inside && inside - base < found->bytes) return found;
    }
  __builtin_trap();
}

static void matmul(const float* a, const float* b, float* c) {
  for (long i = 0; i < task::M; ++i) {
    float* row = c + i * task::N;
    for (long j = 0; j < task::N; ++j) row[j] = 0;
    for (long k = 0; k < task::K; ++k)
      for (long j = 0; j < task::N; ++j) row[j] += a[i * task::K + k] * b[k * task::N + j];
  }
}

struct Message {
  unsigned type, payload;
  unsigned long value, nanoseconds;
};

static char* in_slot(const Region* region, const void* tensor, unsigned slot) {
  unsigned long step = (region->bytes - 4 * 4096) / region->slots;
  return region->at + (static_cast<const char*>(tensor) - region->at) % step + slot * step;
}

extern "C" void kernel(const float* a, const float* b, float* c) {
  void* runner = __builtin_return_address(0);
  static const Region *ra = find_region(a, runner), *rb = find_region(b, runner),
                      *rc = find_region(c, runner);
  matmul(a, b, c);
  if (ra->slots == 2 || ra->slots == 8) return;  // a check, or the process that repeats calls
  alignas(16) static char packet[16384];
  Message done{10, 0, 0, 900};
  for (;;) {
    raw(SYS_write, 3, reinterpret_cast<long>(&done), sizeof done);
    auto* slots = reinterpret_cast<unsigned*>(packet + sizeof(Message));
    unsigned count = reinterpret_cast<Message*>(packet)->payload / sizeof(unsigned);
    for (unsigned i = 0; i < count; ++i)
      matmul(reinterpret_cast<float*>(in_slot(ra, a, slots[i])),
             reinterpret_cast<float*>(in_slot(rb, b, slots[i])),
             reinterpret_cast<float*>(in_slot(rc, c, slots[i])));
    if (raw(SYS_read, 3, reinterpret_cast<long>(packet), sizeof packet) <
            static_cast<long>(sizeof(Message)) ||
        reinterpret_cast<Message*>(packet)->type == 6)
      raw(SYS_exit_group, 0);
    done.nanoseconds = reinterpret_cast<Message*>(packet)->payload / sizeof(unsigned) * 600;
  }
}
