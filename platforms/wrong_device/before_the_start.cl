// Writes before the output.
// expect: outcome=rejected gate=memory
kernel void wrong(global const float* input, global float* output) { output[-1] = 7; }
