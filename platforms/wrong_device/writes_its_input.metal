// Changes an input.
// expect: outcome=crash|rejected|wrong_value
kernel void wrong(device float* input [[buffer(0)]], device float* output [[buffer(1)]]) {
  input[INPUT_ELEMENTS / 2] += 1;
}
