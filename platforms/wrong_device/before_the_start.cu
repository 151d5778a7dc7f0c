// Reads before its input.
// expect: outcome=wrong_value gate=bounds
extern "C" __global__ void wrong(const float* input, float* output) {
  if (input[-1] == 12345.0f) output[0] = 7;
}
