// MSL kernels of the kind people publish, one of each.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

constant bool negate [[function_constant(0)]];
constant int missing [[function_constant(1)]];
constant float weights[2] = {0.5f, 2.0f};

struct Sizes {
  int rows, columns;
};

kernel void saxpy(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], constant float& a [[buffer(2)]],
                  constant uint& n [[buffer(3)]], uint i [[thread_position_in_grid]]) {
  if (i >= n) return;
  float v = a * x[i] + weights[1];
  if (is_function_constant_defined(missing)) v = 0;
  y[i] = negate ? -v : v;
}

// A row softmax: simdgroups, then threadgroup memory of the launch.
kernel void softmax(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], constant int& columns [[buffer(2)]],
                    threadgroup float* partial [[threadgroup(0)]], uint row [[threadgroup_position_in_grid]],
                    ushort t [[thread_index_in_threadgroup]], ushort width [[threads_per_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]], uint group [[simdgroup_index_in_threadgroup]]) {
  device const float* from = x + row * columns;
  float best = -INFINITY;
  for (int i = t; i < columns; i += width) best = max(best, from[i]);
  best = simd_max(best);
  if (lane == 0) partial[group] = best;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  best = partial[0];
  for (uint g = 1; g < (width + 31u) / 32; ++g) best = max(best, partial[g]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (int i = t; i < columns; i += width) sum += precise::exp(from[i] - best);
  sum = simd_sum(sum);
  if (lane == 0) partial[group] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sum = 0;
  for (uint g = 0; g < (width + 31u) / 32; ++g) sum += partial[g];
  for (int i = t; i < columns; i += width) y[row * columns + i] = fast::exp(from[i] - best) / sum;
}

#define TILE 8
kernel void product(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]], device float* c [[buffer(2)]],
                    constant int& n [[buffer(3)]], uint2 group [[threadgroup_position_in_grid]],
                    uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float as[TILE][TILE + 1], bs[TILE][TILE];
  int row = group.y * TILE + t.y, column = group.x * TILE + t.x;
  float sum = 0;
  for (int k = 0; k < n; k += TILE) {
    as[t.y][t.x] = a[row * n + k + t.x];
    bs[t.y][t.x] = b[(k + t.y) * n + column];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = 0; i < TILE; ++i) sum = fma(as[t.y][i], bs[i][t.x], sum);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  c[row * n + column] = sum;
}

// The same by matrices of a simdgroup.
kernel void matrices(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]], device float* c [[buffer(2)]],
                     constant uint& n [[buffer(3)]], uint2 group [[threadgroup_position_in_grid]]) {
  simdgroup_float8x8 left, right, sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  for (uint k = 0; k < n; k += 8) {
    simdgroup_load(left, a + group.y * 8 * n + k, n);
    simdgroup_load(right, b, n, ulong2(group.x * 8, k));
    simdgroup_multiply_accumulate(sum, left, right, sum);
  }
  simdgroup_store(sum, c + group.y * 8 * n + group.x * 8, n);
}

// Vectors, halves, and an instance of a template with a name of its own.
template <typename T>
kernel void scaled(device const T* x [[buffer(0)]], device T* y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  y[i] = x[i] * T(1.5h) + T(0.25f);
}
template [[host_name("scaled_half")]] [[kernel]] void scaled<half>(device const half*, device half*, uint);

kernel void vectors(device const float4* x [[buffer(0)]], device packed_float3* y [[buffer(1)]], uint i [[thread_position_in_grid]],
                    uint all [[threads_per_grid]], uint wide [[threads_per_threadgroup]]) {
  float4 v = x[i];
  v.xy = v.yx;
  float3 w = float3(v.xy, 1.0f) * float3(2) + clamp(v.zzz, 0.0f, 1.0f);
  w.z += float(all) + as_type<float>(as_type<uint>(0.5f)) + wide;
  y[i] = packed_float3(select(w, float3(-1), v.w > 0));
}

kernel void histogram(device const int* x [[buffer(0)]], device atomic_uint* bins [[buffer(1)]], device atomic_float* sum [[buffer(2)]],
                      uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  atomic_fetch_add_explicit(&bins[x[i] & 7], 1u, memory_order_relaxed);
  float value = simd_shuffle_down(float(x[i]), 1);
  value += simd_shuffle_xor(float(x[i]), 1) + simd_prefix_exclusive_sum(1.0f) + simd_broadcast(float(x[i]), 3);
  if (lane < 4 && simd_any(lane == 2)) atomic_fetch_add_explicit(sum, value, memory_order_relaxed);
}
