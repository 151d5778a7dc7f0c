// Is off by one part in a thousand, in one element.
// expect: outcome=wrong_value
#ifdef KERNEL_wrong
layout(local_size_x = 1) in;
layout(std430, binding = 1) buffer Out { float wrong_output[]; };
void main() { wrong_output[OUTPUT_ELEMENTS / 3] = wrong_output[OUTPUT_ELEMENTS / 3] * 1.001 + 1e-3; }
#endif
