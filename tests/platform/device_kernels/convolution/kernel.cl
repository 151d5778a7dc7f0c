// task: core/conv2d_3x3
kernel void convolution(global const float* x, global const float* w, global float* y) {
  const int column = get_global_id(0), row = get_group_id(1), b = get_group_id(2) / F, f = get_group_id(2) % F;
  if (column >= OW) return;
  float sum = 0;
  for (int c = 0; c < C; ++c)
    for (int i = 0; i < 9; ++i)
      sum = fma(x[((b * C + c) * H + row + i / 3) * W + column + i % 3], w[(f * C + c) * 9 + i], sum);
  y[((b * F + f) * OH + row) * OW + column] = sum;
}
