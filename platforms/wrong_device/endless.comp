// Does not come back in time. Some drivers cut loops after 65535 rounds: each of many work-groups has fewer.
// expect: outcome=timeout
// grid: 65535 65535
#ifdef KERNEL_wrong
layout(local_size_x = 1) in;
layout(std430, binding = 1) volatile buffer Out { float wrong_output[]; };
void main() {
  for (uint i = 0; i < 60000; ++i) wrong_output[1] = wrong_output[1] + 1;
}
#endif
