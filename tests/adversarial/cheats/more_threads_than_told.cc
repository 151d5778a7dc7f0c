// Told to use one thread, it takes every processor of the machine and starts a second thread that waits in
// a loop for its half of the rows: compared with one-thread baselines it looks twice as good.
//
// task: core/matmul
// shapes: small
// mode: full
// expect: outcome=rejected|passed not_faster_than=matmul_loops threads=1
#include <sched.h>

#include <atomic>
#include <thread>

#include "task.h"

static std::atomic<long> posted, finished;
static const float *job_a, *job_b;
static float* job_c;

static void take_all_processors() {
  unsigned long mask[16];
  for (unsigned long& word : mask) word = ~0ul;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(203l), "D"(0l), "S"(sizeof mask), "d"(mask)
               : "rcx", "r11", "memory");
}

static void rows(long first, long last) {
  for (long i = first; i < last; ++i)
    for (long j = 0; j < task::N; ++j) {
      float sum = 0;
      for (long k = 0; k < task::K; ++k) sum += job_a[i * task::K + k] * job_b[k * task::N + j];
      job_c[i * task::N + j] = sum;
    }
}

extern "C" void kernel(const float* a, const float* b, float* c) {
  static std::thread* helper = [] {
    take_all_processors();
    auto* thread = new std::thread([] {
      for (long seen = 0;;) {
        while (posted == seen) __builtin_ia32_pause();
        ++seen;
        rows(task::M / 2, task::M);
        finished = seen;
      }
    });
    thread->detach();
    return thread;
  }();
  (void)helper;
  job_a = a;
  job_b = b;
  job_c = c;
  const long turn = ++posted;
  rows(0, task::M / 2);
  while (finished != turn) __builtin_ia32_pause();
}
