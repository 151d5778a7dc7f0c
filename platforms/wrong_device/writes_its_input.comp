// Changes an input.
// expect: outcome=rejected gate=memory
#ifdef KERNEL_wrong
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer In { float wrong_input[]; };
void main() { wrong_input[INPUT_ELEMENTS / 2] += 1; }
#endif
