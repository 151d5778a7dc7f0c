// Changes an input.
// expect: outcome=rejected gate=memory
kernel void wrong(global float* input, global float* output) { input[INPUT_ELEMENTS / 2] += 1; }
