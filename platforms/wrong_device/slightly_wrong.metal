// Is off by one part in a thousand, in one element.
// expect: outcome=wrong_value
kernel void wrong(device const float* input [[buffer(0)]], device float* output [[buffer(1)]]) {
  output[OUTPUT_ELEMENTS / 3] = output[OUTPUT_ELEMENTS / 3] * 1.001f + 1e-3f;
}
