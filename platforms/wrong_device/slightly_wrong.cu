// Is off by one part in a thousand, in one element.
// expect: outcome=wrong_value
extern "C" __global__ void wrong(const float* input, float* output) {
  output[OUTPUT_ELEMENTS / 3] = output[OUTPUT_ELEMENTS / 3] * 1.001f + 1e-3f;
}
