// task: core/softmax
// The length of a row comes as a scalar argument.
kernel void row_softmax(global const float* x, global float* y, int length) {
  local float parts[32];
  const int lane = get_local_id(0), row = get_group_id(0) * length;
  float largest = -INFINITY, sum = 0;
  for (int d = lane; d < length; d += 32) largest = fmax(largest, x[row + d]);
  parts[lane] = largest;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < 32; ++i) largest = fmax(largest, parts[i]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = lane; d < length; d += 32) sum += exp(x[row + d] - largest);
  parts[lane] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = 0;
  for (int i = 0; i < 32; ++i) sum += parts[i];
  for (int d = lane; d < length; d += 32) y[row + d] = exp(x[row + d] - largest) / sum;
}
