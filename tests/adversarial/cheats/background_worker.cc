// A persistent worker takes the work from a mailbox; the kernel only posts it and never waits for the end.
//
// task: core/matmul
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected
#include <atomic>
#include <chrono>
#include <thread>

#include "task.h"

static void matmul(const float* a, const float* b, float* c) {
  for (long i = 0; i < task::M; ++i) {
    float* row = c + i * task::N;
    for (long j = 0; j < task::N; ++j) row[j] = 0;
    for (long k = 0; k < task::K; ++k)
      for (long j = 0; j < task::N; ++j) row[j] += a[i * task::K + k] * b[k * task::N + j];
  }
}

struct Job {
  const float *a, *b;
  float* c;
};
static std::atomic<Job*> mailbox;

extern "C" void kernel(const float* a, const float* b, float* c) {
  static std::thread* worker = new std::thread([] {
    for (;;) {
      Job* job = mailbox.exchange(nullptr);
      if (!job) {
        std::this_thread::yield();
        continue;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(3));  // as a longer task would take
      matmul(job->a, job->b, job->c);
      delete job;
    }
  });
  (void)worker;
  delete mailbox.exchange(new Job{a, b, c});
}
