// Does not come back.
// expect: outcome=timeout
extern "C" __global__ void wrong(const float* input, volatile float* output) {
  while (output[0] != 12345.0f) output[1] = output[1] + 1;
}
