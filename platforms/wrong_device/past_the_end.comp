// Writes behind the output.
// expect: outcome=rejected gate=memory
#ifdef KERNEL_wrong
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer In { float wrong_input[]; };
layout(std430, binding = 1) buffer Out { float wrong_output[]; };
void main() {
  for (int i = 0; i < 16; ++i) wrong_output[OUTPUT_ELEMENTS + i] = 7;
}
#endif
