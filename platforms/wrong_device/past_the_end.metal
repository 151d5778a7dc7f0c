// Writes behind the output.
// expect: outcome=wrong_value gate=bounds
kernel void wrong(device const float* input [[buffer(0)]], device float* output [[buffer(1)]]) {
  for (int i = 0; i < 16; ++i) output[OUTPUT_ELEMENTS + i] = 7;
}
