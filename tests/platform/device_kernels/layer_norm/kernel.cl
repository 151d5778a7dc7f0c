// task: core/layer_norm
// Scale and bias are laid beside each other once, in prepare.
kernel void pack(global const float* scale, global const float* bias, global float* packed) {
  const int d = get_global_id(0);
  packed[2 * d] = scale[d];
  packed[2 * d + 1] = bias[d];
}
float total(local float* parts, float own) {
  barrier(CLK_LOCAL_MEM_FENCE);
  parts[get_local_id(0)] = own;
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += parts[i];
  return sum;
}
kernel void normalise(global const float* x, global const float* packed, global float* y) {
  local float parts[16];
  const int lane = get_local_id(0), row = get_group_id(0) * D;
  float sum = 0, squares = 0;
  for (int d = lane; d < D; d += 16) sum += x[row + d];
  const float mean = total(parts, sum) / D;
  for (int d = lane; d < D; d += 16) squares += (x[row + d] - mean) * (x[row + d] - mean);
  const float scale = 1 / sqrt(total(parts, squares) / D + 1e-5f);
  for (int d = lane; d < D; d += 16)
    y[row + d] = (x[row + d] - mean) * scale * packed[2 * d] + packed[2 * d + 1];
}
