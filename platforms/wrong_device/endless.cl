// Does not come back.
// expect: outcome=timeout
kernel void wrong(global const float* input, volatile global float* output) {
  while (output[0] != 12345.0f) output[1] = output[1] + 1;
}
