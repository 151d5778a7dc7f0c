// Recognises an input by a few of its elements, rounded, and reuses the answer it gave then.
//
// task: core/matmul
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected
#include <string.h>

#include <map>
#include <vector>

#include "task.h"

static void matmul(const float* a, const float* b, float* c) {
  for (long i = 0; i < task::M; ++i) {
    float* row = c + i * task::N;
    for (long j = 0; j < task::N; ++j) row[j] = 0;
    for (long k = 0; k < task::K; ++k)
      for (long j = 0; j < task::N; ++j) row[j] += a[i * task::K + k] * b[k * task::N + j];
  }
}

extern "C" void kernel(const float* a, const float* b, float* c) {
  static std::map<int, std::vector<float>> answers;
  const int key = static_cast<int>(a[0] * 4) * 1024 + static_cast<int>(b[0] * 4);
  std::vector<float>& answer = answers[key];
  if (answer.empty()) {
    answer.resize(task::M * task::N);
    matmul(a, b, answer.data());
  }
  memcpy(c, answer.data(), sizeof(float) * answer.size());
}
