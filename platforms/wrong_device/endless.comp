// Does not come back; a driver that cuts endless loops leaves a wrong result.
// expect: outcome=timeout|wrong_value
#ifdef KERNEL_wrong
layout(local_size_x = 1) in;
layout(std430, binding = 1) volatile buffer Out { float wrong_output[]; };
void main() {
  while (wrong_output[0] != 12345.0) wrong_output[1] = wrong_output[1] + 1;
}
#endif
