// Writes behind the output.
// expect: outcome=rejected gate=memory
kernel void wrong(global const float* input, global float* output) {
  for (int i = 0; i < 16; ++i) output[OUTPUT_ELEMENTS + i] = 7;
}
