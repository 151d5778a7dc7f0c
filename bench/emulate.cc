// bench_emulate: what emulation costs: building, launching, and the two products that kernels are measured
// by.
#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <vector>

#include "base/files.h"
#include "emulate/emulate.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kSide = 1024;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void figure(const char* what, double value, const char* unit, double target) {
  fmt::print("{:<44} {:>9.3g} {:<3} (at most {:.3g}){}\n", what, value, unit, target,
             value <= target ? "" : "  MISSED");
}

constexpr const char* kTiled = R"(
__global__ void empty() {}
__global__ void tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][16], bs[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    as[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
)";

struct Program {
  void (*kernel)(void*, void*, void*) = nullptr;
  double build_seconds = 0;
  TempDir folder;
};

Result<Program> load(const std::string& source, const std::string& plan) {
  emulate::Request request;
  request.files = {{"kernel.cu", source}};
  request.params = {false, false, false};
  const std::size_t bytes = kSide * kSide * sizeof(float);
  PlanSetting setting;
  setting.tensors = {{"a", DType::kFloat32, bytes, false, false},
                     {"b", DType::kFloat32, bytes, false, false},
                     {"c", DType::kFloat32, bytes, false, true}};
  auto read = read_launch_plan(plan, setting);
  if (!read) return fail("{}", read.error().log);
  request.plan = *read;
  KF_TRY(request.tier, strongest_tier());
  Program program;
  KF_TRY(auto built, emulate::build(request));
  if (!built) return fail("{}", reason_text(built.error()));
  program.build_seconds = built->seconds;
  KF_TRY(program.folder, TempDir::create());
  const fs::path path = program.folder.path() / "kernel.so";
  KF_TRY_VOID(write_scratch_file(path, built->content));
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return fail("{}", dlerror());
  program.kernel = reinterpret_cast<void (*)(void*, void*, void*)>(dlsym(library, "kernel"));
  return program;
}

bool right(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c) {
  for (std::size_t i = 0; i < kSide; i += 97)
    for (std::size_t j = 0; j < kSide; j += 89) {
      double sum = 0;
      for (std::size_t k = 0; k < kSide; ++k) sum += static_cast<double>(a[i * kSide + k]) * b[k * kSide + j];
      if (std::fabs(sum - c[i * kSide + j]) > 1e-2) return false;
    }
  return true;
}

Result<void> run() {
  std::vector<float> a(kSide * kSide), b(a.size()), c(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i * 7 % 31) / 16 - 1;
    b[i] = static_cast<float>(i * 5 % 29) / 16 - 1;
  }
  auto call = [&](Program& program) {
    auto best = 1e9;
    for (int i = 0; i < 2; ++i) {
      const auto start = Clock::now();
      program.kernel(a.data(), b.data(), c.data());
      best = std::min(best, seconds_since(start));
    }
    return best;
  };
  KF_TRY(Program tiled, load(kTiled, R"({"run": [{"kernel": "tiled", "grid": [64, 64], "block": [16, 16],
                             "args": ["a", "b", "c", {"i32": 1024}]}]})"));
  figure("build of a tiled product", tiled.build_seconds, "s", 0.8);
  figure("tiled product 1024^3, 16 x 16 threads", call(tiled), "s", 5);
  if (!right(a, b, c)) return fail("the tiled product is wrong");

  KF_TRY(std::string published, read_file(fs::path(KFORGE_SOURCE_DIR) / "tests/emulate/cuda/published.cu"));
  KF_TRY(Program registers,
         load(published, R"({"run": [{"kernel": "product", "grid": [16, 16], "block": [256],
                                 "args": ["a", "b", "c", {"i32": 1024}, {"i32": 1024}]}]})"));
  figure("build of a file with ten kernels", registers.build_seconds, "s", 0.8);
  figure("register-tiled product 1024^3", call(registers), "s", 1);
  if (!right(a, b, c)) return fail("the register-tiled product is wrong");

  constexpr int kLaunches = 1000;
  KF_TRY(Program empty,
         load(kTiled, fmt::format(R"({{"run": [{{"repeat": {}, "run": [{{"kernel": "empty", "grid": [1],
                                     "block": [256], "args": []}}]}}]}})",
                                  kLaunches)));
  figure("empty launch, 256 threads", call(empty) / kLaunches * 1e6, "us", 20);
  return {};
}

}  // namespace
}  // namespace kforge

int main() {
  auto done = kforge::run();
  if (!done) fmt::print(stderr, "{}\n", done.error().text());
  return done ? 0 : 1;
}
