// The cost model ranks as people who know such devices do: pairs of programs for one task, of which one is
// better in one respect. The counts are the emulator's own, of a few blocks of a large grid.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulated_program.h"
#include "platform/platform.h"
#include "profile/device/simt_model.h"

namespace kforge {
namespace {

using emulate::Language;
using emulate::Variant;

struct Modelled {
  std::vector<LaunchFigures> launches;
  double ns = 0;
};

class ModelPairs : public testing::Test {
 protected:
  // A program for tensors x and y (and w, for products), modelled on the chip of the platform.
  Modelled modelled(Language language, const std::string& source, const std::string& plan, std::size_t x,
                    std::size_t y, std::size_t w = 0, std::uint64_t seed = 7, bool partial = true) {
    TestProgram program;
    program.language = language;
    program.source = source;
    program.plan = plan;
    program.variant = Variant::kCount;
    program.tensors = {{"x", DType::kFloat32, x}};
    if (w) program.tensors.push_back({"w", DType::kFloat32, w});
    program.tensors.push_back({"y", DType::kFloat32, y, true});
    const auto request = request_for(program);
    auto library = build_library(request);
    if (!library || !*library) {
      ADD_FAILURE() << (library ? reason_text(library->error()) : library.error().text());
      return {};
    }
    std::vector<float> in(x, 1.5f), weights(w, 0.5f), out(y);
    std::vector<std::byte> report(emulate::report_bytes());
    emulate::ask_for_counts(report, seed, partial);
    std::vector<void*> tensors = {in.data()};
    if (w) tensors.push_back(weights.data());
    tensors.push_back(out.data());
    LoadedProgram(request).call(tensors, report.data());
    auto counts = emulate::read_report(report, **library, SandboxTier::kNone);
    auto mix = instruction_mix(**library, SandboxTier::kNone);
    EXPECT_TRUE(counts) << counts.error().text();
    EXPECT_TRUE(mix) << mix.error().text();
    if (!counts || !mix) return {};
    EXPECT_TRUE(counts->findings.empty()) << counts->findings.front().sentence();
    EXPECT_FALSE(counts->overflowed);
    auto platform = load_platform(language == Language::kCuda ? "cuda" : "metal");
    EXPECT_TRUE(platform) << platform.error().text();
    auto launches = model_launches(*counts, *mix, {}, *platform->model->chip);
    EXPECT_TRUE(launches) << launches.error().text();
    if (!launches) return {};
    return {*launches, modelled_ns(*launches)};
  }
  Modelled cuda(const std::string& source, const std::string& plan, std::size_t x, std::size_t y,
                std::size_t w = 0) {
    return modelled(Language::kCuda, source, plan, x, y, w);
  }
  Modelled metal(const std::string& source, const std::string& plan, std::size_t x, std::size_t y,
                 std::size_t w = 0) {
    return modelled(Language::kMetal, "#include <metal_stdlib>\nusing namespace metal;\n" + source, plan, x,
                    y, w);
  }
};

std::string plan_of(const std::string& kernel, long grid, long block,
                    const std::string& args = R"(["x", "y"])", long shared = 0) {
  return fmt::format(
      R"({{"run": [{{"kernel": "{}", "grid": [{}], "block": [{}], "args": {}, "shared_bytes": {}}}]}})",
      kernel, grid, block, args, shared);
}

constexpr std::size_t kMany = 4 << 20;

TEST_F(ModelPairs, CudaCoalescedBeatsStrided) {
  const char* good = R"(extern "C" __global__ void twice(const float* x, float* y) {
    const int first = blockIdx.x * 1024 + threadIdx.x;
    for (int k = 0; k < 4; ++k) y[first + 256 * k] = 2.0f * x[first + 256 * k];
  })";
  const char* bad = R"(extern "C" __global__ void twice(const float* x, float* y) {
    const int first = blockIdx.x * 1024 + threadIdx.x * 4;
    for (int k = 0; k < 4; ++k) y[first + k] = 2.0f * x[first + k];
  })";
  const std::string plan = plan_of("twice", kMany / 1024, 256);
  const Modelled a = cuda(good, plan, kMany, kMany), b = cuda(bad, plan, kMany, kMany);
  ASSERT_FALSE(a.launches.empty() || b.launches.empty());
  EXPECT_DOUBLE_EQ(a.launches[0].sectors_per_request, 4);
  EXPECT_DOUBLE_EQ(b.launches[0].sectors_per_request, 16);
  EXPECT_LT(a.ns, 0.97 * b.ns);
}

const char* const kTranspose = R"(extern "C" __global__ void turn(const float* x, float* y) {
    __shared__ float tile[32][PITCH];
    const int r = blockIdx.x / 64 * 32, c = blockIdx.x % 64 * 32, tx = threadIdx.x % 32, ty = threadIdx.x / 32;
    for (int k = 0; k < 32; k += 8) tile[ty + k][tx] = x[(r + ty + k) * 2048 + c + tx];
    __syncthreads();
    for (int k = 0; k < 32; k += 8) y[(c + ty + k) * 2048 + r + tx] = tile[tx][ty + k];
  })";

TEST_F(ModelPairs, CudaAPaddedTileBeatsOneWithBankConflicts) {
  const std::string plan = plan_of("turn", 4096, 256);
  const Modelled a = cuda("#define PITCH 33\n" + std::string(kTranspose), plan, kMany, kMany),
                 b = cuda("#define PITCH 32\n" + std::string(kTranspose), plan, kMany, kMany);
  ASSERT_FALSE(a.launches.empty() || b.launches.empty());
  EXPECT_DOUBLE_EQ(a.launches[0].bank_passes, 1);
  EXPECT_DOUBLE_EQ(b.launches[0].bank_passes, 16.5);
  EXPECT_LT(a.ns, 0.9 * b.ns);
}

TEST_F(ModelPairs, CudaATileBeatsStridedStores) {
  const char* plain = R"(extern "C" __global__ void turn(const float* x, float* y) {
    const int r = blockIdx.x / 64 * 32, c = blockIdx.x % 64 * 32, tx = threadIdx.x % 32, ty = threadIdx.x / 32;
    for (int k = 0; k < 32; k += 8) y[(c + tx) * 2048 + r + ty + k] = x[(r + ty + k) * 2048 + c + tx];
  })";
  const std::string plan = plan_of("turn", 4096, 256);
  EXPECT_LT(cuda("#define PITCH 33\n" + std::string(kTranspose), plan, kMany, kMany).ns,
            cuda(plain, plan, kMany, kMany).ns);
}

// Sums of rows of 1024 by a block each, with `shared` bytes beside.
const char* const kTree = R"(extern "C" __global__ void sums(const float* x, float* y) {
    __shared__ float part[256];
    float s = 0;
    for (int k = threadIdx.x; k < 1024; k += 256) s += x[blockIdx.x * 1024 + k];
    part[threadIdx.x] = s;
    __syncthreads();
    for (int half = 128; half; half /= 2) {
      if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
      __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = part[0];
  })";

TEST_F(ModelPairs, CudaHigherOccupancyBeatsLower) {
  const Modelled a = cuda(kTree, plan_of("sums", 4096, 256), kMany, 4096),
                 b = cuda(kTree, plan_of("sums", 4096, 256, R"(["x", "y"])", 150000), kMany, 4096);
  ASSERT_FALSE(a.launches.empty() || b.launches.empty());
  EXPECT_DOUBLE_EQ(a.launches[0].occupancy.fraction, 1);
  EXPECT_DOUBLE_EQ(b.launches[0].occupancy.fraction, 0.125);
  EXPECT_EQ(b.launches[0].occupancy.limit, "shared memory");
  EXPECT_LT(a.ns, 0.9 * b.ns);
}

TEST_F(ModelPairs, CudaShufflesBeatATreeOfBarriers) {
  const char* shuffles = R"(extern "C" __global__ void sums(const float* x, float* y) {
    __shared__ float part[8];
    float s = 0;
    for (int k = threadIdx.x; k < 1024; k += 256) s += x[blockIdx.x * 1024 + k];
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(0xffffffffu, s, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int w = 1; w < 8; ++w) s += part[w];
      y[blockIdx.x] = s;
    }
  })";
  const Modelled a = cuda(shuffles, plan_of("sums", 4096, 256), kMany, 4096),
                 b = cuda(kTree, plan_of("sums", 4096, 256), kMany, 4096);
  ASSERT_FALSE(a.launches.empty() || b.launches.empty());
  EXPECT_DOUBLE_EQ(a.launches[0].barriers, 1);
  EXPECT_DOUBLE_EQ(b.launches[0].barriers, 9);
  EXPECT_LT(a.ns, b.ns);
}

TEST_F(ModelPairs, CudaWarpsOfOneMindBeatDivergentOnes) {
  // Half of the elements need a long chain of one kind, half of another.
  const std::string work = R"(
  static __device__ float even(float v) { for (int i = 0; i < 200; ++i) v = v * 0.5f + 1.0f; return v; }
  static __device__ float odd(float v) { for (int i = 0; i < 200; ++i) v = v * 0.25f - 1.0f; return v; })";
  const std::string bad = work + R"(
  extern "C" __global__ void both(const float* x, float* y) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = i % 2 ? odd(x[i]) : even(x[i]);
  })";
  const std::string good = work + R"(
  extern "C" __global__ void both(const float* x, float* y) {
    const int w = threadIdx.x / 32, i = blockIdx.x * 256 + w / 2 * 64 + threadIdx.x % 32 * 2 + w % 2;
    y[i] = w % 2 ? odd(x[i]) : even(x[i]);
  })";
  const std::string plan = plan_of("both", kMany / 256, 256);
  const Modelled a = cuda(good, plan, kMany, kMany), b = cuda(bad, plan, kMany, kMany);
  ASSERT_FALSE(a.launches.empty() || b.launches.empty());
  EXPECT_GT(a.launches[0].active_lanes, 0.99);
  EXPECT_LT(b.launches[0].active_lanes, 0.6);
  EXPECT_LT(a.ns, 0.8 * b.ns);
}

const char* const kNaiveProduct =
    R"(extern "C" __global__ void product(const float* x, const float* w, float* y) {
    const int c = blockIdx.x % 64 * 16 + threadIdx.x % 16, r = blockIdx.x / 64 * 16 + threadIdx.x / 16;
    float s = 0;
    for (int k = 0; k < 1024; ++k) s += x[r * 1024 + k] * w[k * 1024 + c];
    y[r * 1024 + c] = s;
  })";
const char* const kTiledProduct =
    R"(extern "C" __global__ void product(const float* x, const float* w, float* y) {
    __shared__ float a[16][64], b[16][64];
    const int c0 = blockIdx.x % 16 * 64, r0 = blockIdx.x / 16 * 64, tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float s[4][4] = {};
    for (int k0 = 0; k0 < 1024; k0 += 16) {
      for (int e = threadIdx.x; e < 1024; e += 256) {
        a[e % 16][e / 16] = x[(r0 + e / 16) * 1024 + k0 + e % 16];
        b[e / 64][e % 64] = w[(k0 + e / 64) * 1024 + c0 + e % 64];
      }
      __syncthreads();
      for (int k = 0; k < 16; ++k)
        for (int i = 0; i < 4; ++i)
          for (int j = 0; j < 4; ++j) s[i][j] += a[k][ty + 16 * i] * b[k][tx + 16 * j];
      __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) y[(r0 + ty + 16 * i) * 1024 + c0 + tx + 16 * j] = s[i][j];
  })";

TEST_F(ModelPairs, CudaARegisterTileBeatsTheNaiveProduct) {
  const std::string args = R"(["x", "w", "y"])";
  const Modelled a = cuda(kTiledProduct, plan_of("product", 256, 256, args), 1 << 20, 1 << 20, 1 << 20),
                 b = cuda(kNaiveProduct, plan_of("product", 4096, 256, args), 1 << 20, 1 << 20, 1 << 20);
  ASSERT_FALSE(a.launches.empty() || b.launches.empty());
  EXPECT_LT(a.launches[0].l1_bytes, 0.2 * b.launches[0].l1_bytes);
  EXPECT_NEAR(a.launches[0].flops, 2.0 * (1 << 30), 0.02 * (1 << 30));
  EXPECT_NEAR(b.launches[0].flops, 2.0 * (1 << 30), 0.02 * (1 << 30));
  EXPECT_LT(a.ns, 0.8 * b.ns);
}

TEST_F(ModelPairs, CudaOneLaunchBeatsTwo) {
  const char* both = R"(extern "C" __global__ void one(const float* x, float* y) {
    const int i = blockIdx.x * 256 + threadIdx.x; y[i] = x[i] * 2.0f + 1.0f; })";
  const char* each = R"(extern "C" __global__ void one(const float* x, float* y) {
    const int i = blockIdx.x * 256 + threadIdx.x; y[i] = x[i] * 2.0f; }
  extern "C" __global__ void two(float* y) {
    const int i = blockIdx.x * 256 + threadIdx.x; y[i] = y[i] + 1.0f; })";
  const Modelled a = cuda(both, plan_of("one", kMany / 256, 256), kMany, kMany),
                 b = cuda(each,
                          R"({"run": [{"kernel": "one", "grid": [16384], "block": [256], "args": ["x", "y"]},
                                      {"kernel": "two", "grid": [16384], "block": [256], "args": ["y"]}]})",
                          kMany, kMany);
  EXPECT_EQ(b.launches.size(), 2u);
  EXPECT_LT(a.ns, 0.7 * b.ns);
}

TEST_F(ModelPairs, CudaFewAtomicsBeatMany) {
  const char* many = R"(extern "C" __global__ void sum(const float* x, float* y) {
    atomicAdd(y, x[blockIdx.x * 256 + threadIdx.x]); })";
  const char* few = R"(extern "C" __global__ void sum(const float* x, float* y) {
    float s = x[blockIdx.x * 256 + threadIdx.x];
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(0xffffffffu, s, d);
    if (threadIdx.x % 32 == 0) atomicAdd(y, s); })";
  const std::string plan = plan_of("sum", kMany / 256, 256);
  EXPECT_LT(cuda(few, plan, kMany, 1).ns, cuda(many, plan, kMany, 1).ns);
}

// What some blocks tell is what all of them tell, where they are alike.
TEST_F(ModelPairs, ASampleTellsWhatTheWholeGridTells) {
  const std::string plan = plan_of("sums", 64, 256);
  const Modelled some = modelled(Language::kCuda, kTree, plan, 64 << 10, 64),
                 all = modelled(Language::kCuda, kTree, plan, 64 << 10, 64, 0, 7, false),
                 other = modelled(Language::kCuda, kTree, plan, 64 << 10, 64, 0, 12345, false);
  EXPECT_DOUBLE_EQ(some.ns, all.ns);
  EXPECT_NEAR(other.ns, all.ns, 1e-3 * all.ns);
}

TEST_F(ModelPairs, MetalCoalescedBeatsStrided) {
  const char* good = R"(kernel void twice(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
      uint g [[threadgroup_position_in_grid]], uint t [[thread_position_in_threadgroup]]) {
    const uint first = g * 1024 + t;
    for (uint k = 0; k < 4; ++k) y[first + 256 * k] = 2.0f * x[first + 256 * k];
  })";
  const char* bad = R"(kernel void twice(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
      uint g [[threadgroup_position_in_grid]], uint t [[thread_position_in_threadgroup]]) {
    const uint first = g * 1024 + t * 4;
    for (uint k = 0; k < 4; ++k) y[first + k] = 2.0f * x[first + k];
  })";
  const std::string plan = plan_of("twice", kMany / 1024, 256);
  EXPECT_LT(metal(good, plan, kMany, kMany).ns, 0.97 * metal(bad, plan, kMany, kMany).ns);
}

const char* const kMetalTree =
    R"(kernel void sums(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
      uint g [[threadgroup_position_in_grid]], uint t [[thread_position_in_threadgroup]]) {
    threadgroup float part[256 * SPREAD];
    float s = 0;
    for (uint k = t; k < 1024; k += 256) s += x[g * 1024 + k];
    part[t * SPREAD] = s;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint half_ = 128; half_; half_ /= 2) {
      if (t < half_) part[t * SPREAD] += part[(t + half_) * SPREAD];
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (t == 0) y[g] = part[0];
  })";

TEST_F(ModelPairs, MetalSimdSumsBeatATreeOfBarriers) {
  const char* simd = R"(kernel void sums(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
      uint g [[threadgroup_position_in_grid]], uint t [[thread_position_in_threadgroup]]) {
    threadgroup float part[8];
    float s = 0;
    for (uint k = t; k < 1024; k += 256) s += x[g * 1024 + k];
    s = simd_sum(s);
    if (t % 32 == 0) part[t / 32] = s;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t == 0) {
      for (uint w = 1; w < 8; ++w) s += part[w];
      y[g] = s;
    }
  })";
  const std::string plan = plan_of("sums", 4096, 256);
  EXPECT_LT(metal(simd, plan, kMany, 4096).ns,
            metal("#define SPREAD 1\n" + std::string(kMetalTree), plan, kMany, 4096).ns);
}

TEST_F(ModelPairs, MetalCompactMemoryBeatsConflictsAndLowOccupancy) {
  const std::string plan = plan_of("sums", 4096, 256);
  const Modelled a = metal("#define SPREAD 1\n" + std::string(kMetalTree), plan, kMany, 4096),
                 b = metal("#define SPREAD 32\n" + std::string(kMetalTree), plan, kMany, 4096);
  ASSERT_FALSE(a.launches.empty() || b.launches.empty());
  EXPECT_GT(b.launches[0].bank_passes, 8);
  EXPECT_LT(b.launches[0].occupancy.fraction, a.launches[0].occupancy.fraction);
  EXPECT_LT(a.ns, 0.9 * b.ns);
}

TEST_F(ModelPairs, MetalATileBeatsTheNaiveProduct) {
  const std::string head =
      R"(kernel void product(device const float* x [[buffer(0)]], device const float* w [[buffer(1)]],
      device float* y [[buffer(2)]], uint g [[threadgroup_position_in_grid]],
      uint t [[thread_position_in_threadgroup]]) {)";
  const std::string naive = head + R"(
    const uint c = g % 64 * 16 + t % 16, r = g / 64 * 16 + t / 16;
    float s = 0;
    for (uint k = 0; k < 1024; ++k) s += x[r * 1024 + k] * w[k * 1024 + c];
    y[r * 1024 + c] = s;
  })";
  const std::string tiled = head + R"(
    threadgroup float a[16][16], b[16][16];
    const uint tx = t % 16, ty = t / 16, c = g % 64 * 16 + tx, r = g / 64 * 16 + ty;
    float s = 0;
    for (uint k0 = 0; k0 < 1024; k0 += 16) {
      a[ty][tx] = x[r * 1024 + k0 + tx];
      b[ty][tx] = w[(k0 + ty) * 1024 + c];
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (uint k = 0; k < 16; ++k) s += a[ty][k] * b[k][tx];
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    y[r * 1024 + c] = s;
  })";
  const std::string plan = plan_of("product", 4096, 256, R"(["x", "w", "y"])");
  EXPECT_LT(metal(tiled, plan, 1 << 20, 1 << 20, 1 << 20).ns,
            metal(naive, plan, 1 << 20, 1 << 20, 1 << 20).ns);
}

}  // namespace
}  // namespace kforge
