// Does not come back.
// expect: outcome=timeout
kernel void wrong(device const float* input [[buffer(0)]], device volatile float* output [[buffer(1)]]) {
  while (output[0] != 12345.0f) output[1] = output[1] + 1;
}
