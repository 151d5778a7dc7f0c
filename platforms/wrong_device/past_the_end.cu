// Writes behind the output.
// expect: outcome=wrong_value gate=bounds
extern "C" __global__ void wrong(const float* input, float* output) {
  for (int i = 0; i < 16; ++i) output[OUTPUT_ELEMENTS + i] = 7;
}
