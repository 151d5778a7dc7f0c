#version 450
// What float_probe.cc asks of a device's arithmetic, for Vulkan. float_probe_spirv.h is made from it by
//   glslangValidator -V --target-env vulkan1.1 --vn kFloatProbeSpirv -o float_probe_spirv.h float_probe.comp
layout(local_size_x = 1) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Y { float y[]; };
void main() {
  y[0] = x[0] * x[1];
  y[1] = x[2] * x[3];
  y[2] = x[2] + x[4];
  y[3] = x[5] + x[3];
  y[4] = x[6] - x[6];
  y[5] = x[6] * x[4];
  y[6] = x[7] * x[7];
  y[7] = x[5] == x[5] ? 1.0 : 0.0;
  y[8] = 1.0 / x[4];
}
