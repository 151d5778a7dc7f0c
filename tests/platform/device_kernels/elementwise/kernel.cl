// task: core/gelu
kernel void gelu(global const float* x, global float* y) {
  const int i = get_global_id(0);
  if (i < B * D) y[i] = 0.5f * x[i] * (1 + erf(x[i] * 0.70710678118654752f));
}
