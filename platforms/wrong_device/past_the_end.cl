// Writes behind the output.
// By its guard zones, or with the line where oclgrind is installed.
// expect: outcome=rejected|wrong_value gate=memory|bounds
kernel void wrong(global const float* input, global float* output) {
  for (int i = 0; i < 16; ++i) output[OUTPUT_ELEMENTS + i] = 7;
}
