#include "sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sweep_layers.h"
#include "task/task.h"

namespace kforge::bench {
namespace {

// A task bound by memory, and how it takes a size: rows of `row` elements, as many of them as fill it.
struct Streaming {
  const char* family;
  const char* task;
  const char* row;    // the dimension that gets a length from kRowLengths
  const char* count;  // the dimension that makes up the size
};
constexpr Streaming kStreaming[] = {
    {"elementwise", "core/relu", "D", "B"},
    {"elementwise", "core/gelu", "D", "B"},
    {"elementwise", "core/sigmoid", "D", "B"},
    {"elementwise", "core/concat_channels", "W", "B"},
    {"elementwise", "core/transpose", "N", "M"},
    {"norms", "core/layer_norm", "D", "B"},
    {"norms", "core/softmax", "D", "B"},
    {"norms", "core/rms_norm", "W", "B"},
    {"norms", "core/group_norm", "W", "B"},
    {"norms", "core/batch_norm_inference", "W", "B"},
    {"reductions", "core/sum_reduction", "N", "B"},
    {"reductions", "core/argmax", "N", "B"},
    {"pooling", "core/max_pool2d", "W", "B"},
    {"pooling", "core/avg_pool2d", "W", "B"},
    {"scans", "core/cumsum", "D", "B"},
    {"losses", "core/mse_loss", "D", "B"},
    {"losses", "core/cross_entropy_loss", "C", "B"},
    {"llm", "llm/residual_rms_norm", "D", "T"},
    {"llm", "llm/silu_mul", "F", "T"},
};
constexpr double kSmallest = 64 << 10, kLargest = 512 << 20;
constexpr int kSizes = 10;
// One for each size: powers of two, multiples of a vector, primes, and what models really have.
constexpr std::int64_t kMatrixRows[kSizes] = {61, 256, 1000, 333, 768, 4095, 1024, 5003, 50257, 8192};
// Rows of images are shorter.
constexpr std::int64_t kImageRows[kSizes] = {13, 28, 56, 33, 112, 99, 224, 127, 256, 512};

struct ProductShape {
  std::int64_t m, n, k;
};
// Square, tall, wide, small, and batches of 1 to 64 rows through a layer of a model.
constexpr ProductShape kProducts[] = {
    {64, 64, 64},       {128, 128, 128},    {256, 256, 256},    {384, 384, 384},   {512, 512, 512},
    {1000, 1000, 1000}, {1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 64, 256},   {8192, 128, 128},
    {64, 4096, 256},    {128, 8192, 128},   {32, 32, 8192},     {256, 256, 16384}, {1024, 1024, 32},
    {2048, 2048, 64},   {17, 33, 65},       {100, 100, 100},    {511, 513, 257},   {1023, 1025, 127},
};
constexpr ProductShape kLinears[] = {
    {1, 4096, 4096},  {2, 4096, 4096},  {4, 4096, 4096}, {8, 4096, 4096},  {16, 4096, 4096},
    {32, 4096, 1024}, {64, 1000, 2048}, {64, 3072, 768}, {197, 768, 3072}, {512, 2304, 768},
};

std::string size_text(double bytes) {
  return bytes < (1 << 20) ? fmt::format("{:.0f}K", bytes / (1 << 10))
                           : fmt::format("{:.0f}M", bytes / (1 << 20));
}

Result<double> bytes_of(const Task& task, const ShapeCase& shape) {
  KF_TRY(const BoundTask bound, bind_case(task, "bench", shape));
  double bytes = 0;
  for (const BoundArgument& argument : bound.arguments) bytes += static_cast<double>(argument.bytes());
  return bytes;
}

// The dimensions that make `task` touch about `bytes`: rows of the given length, the others as in `bench`
// and shorter where even one of them is too large.
Result<std::map<std::string, std::int64_t>> dims_for(const Task& task, const Streaming& how, double bytes,
                                                     std::int64_t row) {
  ShapeCase shape = task.shapes.at("bench").front();
  shape.dims[how.row] = row;
  shape.dims[how.count] = 1;
  KF_TRY(double one, bytes_of(task, shape));
  for (auto& [name, size] : shape.dims) {
    if (name == how.row || name == how.count || one <= bytes / 2) continue;
    size = std::max<std::int64_t>(12, static_cast<std::int64_t>(static_cast<double>(size) * bytes / 2 / one));
    KF_TRY(one, bytes_of(task, shape));
  }
  // What does not grow with the count (a table, a scale) is counted by a second one.
  shape.dims[how.count] = 2;
  KF_TRY(const double two, bytes_of(task, shape));
  const double each = std::max(1.0, two - one);
  shape.dims[how.count] = std::max<std::int64_t>(1, std::llround((bytes - (one - each)) / each));
  return shape.dims;
}

Result<void> add_streaming(std::vector<SweepPoint>& points) {
  for (const Streaming& how : kStreaming) {
    KF_TRY(const Task task, load_task(how.task));
    const bool image = task.shapes.at("bench").front().dims.contains("W");
    for (int i = 0; i < kSizes; ++i) {
      const double bytes = kSmallest * std::pow(kLargest / kSmallest, i / (kSizes - 1.0));
      const std::int64_t row = image ? kImageRows[i] : kMatrixRows[i];
      auto dims = dims_for(task, how, bytes, row);
      if (!dims) return fail("{} of {}: {}", task.name, size_text(bytes), dims.error().message);
      points.push_back({fmt::format("sweep/{}/{}/{}_r{}", how.family, task.name, size_text(bytes), row),
                        how.task, std::move(*dims)});
    }
  }
  return {};
}

void add_products(std::vector<SweepPoint>& points) {
  for (const auto& [m, n, k] : kProducts)
    points.push_back({fmt::format("sweep/products/matmul/{}x{}x{}", m, n, k),
                      "core/matmul",
                      {{"M", m}, {"N", n}, {"K", k}}});
  for (const auto& [m, n, k] : kLinears)
    points.push_back({fmt::format("sweep/products/linear_relu/{}x{}x{}", m, n, k),
                      "fusion/gemm_add_relu",
                      {{"B", m}, {"N", n}, {"K", k}}});
}

}  // namespace

Result<std::vector<SweepPoint>> sweep_points(const fs::path& folder) {
  std::vector<SweepPoint> points;
  KF_TRY_VOID(add_streaming(points));
  add_products(points);
  for (const NetworkLayer& layer : network_layers()) {
    KF_TRY(const fs::path task, write_layer(layer, folder));
    points.push_back({fmt::format("sweep/{}/{}", layer.network, layer.name), task.string(), {}});
  }
  return points;
}

}  // namespace kforge::bench
