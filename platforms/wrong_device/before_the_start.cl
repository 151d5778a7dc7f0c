// Writes before the output.
// By its guard zones, or with the line where oclgrind is installed.
// expect: outcome=rejected|wrong_value gate=memory|bounds
kernel void wrong(global const float* input, global float* output) { output[-1] = 7; }
