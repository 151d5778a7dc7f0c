#version 450
layout(local_size_x = BLOCK_X) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Y { float y[]; };
// GLSL has no erf: its series around zero where x is small, erfc as a continued fraction elsewhere.
float erf(float value) {
  const float a = abs(value);
  if (a > 4.0) return sign(value);
  if (a < 2.0) {
    float term = a, sum = a;
    for (int n = 1; n < 40; ++n) {
      term *= -a * a / float(n);
      sum += term / float(2 * n + 1);
    }
    return sign(value) * sum * 1.12837916709551257;
  }
  float fraction = a;
  for (int n = 24; n > 0; --n) fraction = a + 0.5 * float(n) / fraction;
  return sign(value) * (1.0 - exp(-a * a) / (fraction * 1.77245385090551603));
}
void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < B * D) y[i] = 0.5 * x[i] * (1.0 + erf(x[i] * 0.70710678118654752));
}
