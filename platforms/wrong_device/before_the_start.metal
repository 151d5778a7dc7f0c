// Reads before its input.
// expect: outcome=wrong_value gate=bounds
kernel void wrong(device const float* input [[buffer(0)]], device float* output [[buffer(1)]]) {
  if (input[-1] == 12345.0f) output[0] = 7;
}
