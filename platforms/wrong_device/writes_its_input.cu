// Changes an input.
// expect: outcome=crash|rejected|wrong_value
extern "C" __global__ void wrong(float* input, float* output) {
  input[INPUT_ELEMENTS / 2] += 1;
}
