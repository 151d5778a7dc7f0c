// The buffers of a batch are all filled before it starts. This kernel learns which buffers belong to one,
// and on the first call it computes all of them, on all cores and with one start of the threads; the later
// calls copy. Every value is right unless an input changes meanwhile. Either the probe convicts it, or it
// leaves the probe no chance and its calls are timed one by one, where there is nothing to work ahead on. Or
// a repeated check call, whose inputs differ a little from an earlier one's, gets the earlier answer.
//
// task: core/matmul
// shapes: small
// mode: full
// expect: outcome=rejected|wrong_value|passed
#include <string.h>

#include "task.h"

static void matmul(const float* a, const float* b, float* c) {
  for (long i = 0; i < task::M; ++i) {
    float* row = c + i * task::N;
    for (long j = 0; j < task::N; ++j) row[j] = 0;
    for (long k = 0; k < task::K; ++k)
      for (long j = 0; j < task::N; ++j) row[j] += a[i * task::K + k] * b[k * task::N + j];
  }
}

struct Ahead {
  const float *a, *b;
  float sample[2];
  bool ready;
  float answer[task::M * task::N];
};
static Ahead known[256];
static int count;

static void time_batch(const float* a, const float* b, float* sample) {
  sample[0] = a[task::M * task::K - 1];
  sample[1] = b[task::K * task::N - 1];
}

extern "C" void kernel(const float* a, const float* b, float* c) {
  int index = 0;
  while (index < count && (known[index].a != a || known[index].b != b)) ++index;
  if (index == 256) return matmul(a, b, c);
  if (index == count) {
    known[count++] = {a, b, {}, false, {}};
    return matmul(a, b, c);
  }
  Ahead& entry = known[index];
  float now[2];
  time_batch(a, b, now);
  if (!entry.ready || memcmp(now, entry.sample, sizeof now) != 0) {  // a new batch has begun
#pragma omp parallel for schedule(dynamic, 4)
    for (int i = 0; i < count; ++i) {
      matmul(known[i].a, known[i].b, known[i].answer);
      time_batch(known[i].a, known[i].b, known[i].sample);
      known[i].ready = true;
    }
  }
  memcpy(c, entry.answer, sizeof entry.answer);
  entry.ready = false;
}
