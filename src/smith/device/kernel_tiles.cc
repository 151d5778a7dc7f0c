// A matrix product in tiles: 16 x 16 threads compute a tile of the result. For every step along the depth
// both factors are brought into shared memory once, where each value is used by a whole row or column of
// threads.
#include <algorithm>

#include <fmt/format.h>

#include "smith/device/kernel_writer.h"

namespace kforge::smith {
namespace {

constexpr int kSide = 16;  // threads along a side of a tile

// Sums per thread along a side: as many as the side is worth, and no more than are wanted.
int sums_along(std::int64_t extent, int most) {
  int sums = 1;
  while (sums < most && extent > sums * kSide) sums *= 2;
  return sums;
}

// Whether the depth lies along memory in a factor, so that threads side by side should run along it.
bool depth_is_near(const Expr& factor, const std::vector<Stmt>& depth, const std::vector<Stmt>& side) {
  bool near = false;
  visit(factor, [&](const ExprNode& e) {
    if (e.op != Op::kLoad || depth.empty()) return;
    bool linear = true;
    const Expr flat = flat_position(e.coefs, e.args);
    const bool by_side = !side.empty() && coefficient(flat, side.back()->name, &linear) == 1;
    near |= !by_side && coefficient(flat, depth.back()->name, &linear) == 1;
  });
  return near;
}

}  // namespace

void KernelWriter::fill_tile(const std::string& tile, const Expr& factor, const std::vector<Stmt>& side,
                             const char* index, int width, std::int64_t extent) {
  const auto& depth = kernel_.product->depth;
  const int deep = kernel_.choices.depth, pitch = width + kernel_.choices.pad;
  const std::int64_t k = iterations_of(depth);
  const bool near = depth_is_near(factor, depth, side);
  open(fmt::format("for (int e_ = lane_; e_ < {}; e_ += {})", width * deep, kernel_.block));
  line(fmt::format("const int k_ = {}, side_ = {};",
                   near ? fmt::format("e_ % {}", deep) : fmt::format("e_ / {}", width),
                   near ? fmt::format("e_ / {}", deep) : fmt::format("e_ % {}", width)));
  line("const " + index_type_ + " deep_ = start_ + k_, at_ = " + index + " + side_;");
  line("float value_ = 0.0f;");
  std::string inside;
  if (k % deep != 0) inside = fmt::format("deep_ < {}", k);
  if (extent % width != 0) inside += fmt::format("{}at_ < {}", inside.empty() ? "" : " && ", extent);
  if (!inside.empty()) open("if (" + inside + ")");
  declare_indices(depth, "deep_");
  declare_indices(side, "at_");
  line(fmt::format("value_ = {};", value_text(factor)));
  if (!inside.empty()) close();
  line(fmt::format("{}[k_ * {} + side_] = value_;", tile, pitch));
  close();
}

void KernelWriter::write_tiles() {
  const TileProduct& p = *kernel_.product;
  const std::int64_t m = iterations_of(p.rows), n = iterations_of(p.columns), k = iterations_of(p.depth);
  const int deep = kernel_.choices.depth, pad = kernel_.choices.pad;
  const int down = sums_along(m, kernel_.choices.sums), across = sums_along(n, kernel_.choices.sums),
            height = kSide * down, width = kSide * across;
  grid = {(n + width - 1) / width, (m + height - 1) / height, iterations_of(p.batch)};
  shared_declarations = {fmt::format("float a_tile_[{}]", deep * (height + pad)),
                         fmt::format("float b_tile_[{}]", deep * (width + pad))};
  shared_bytes = 4 * deep * (height + width + 2 * pad);
  line(fmt::format("// a tile of {} x {}: {} sums in every thread", height, width, down * across));
  line(fmt::format("const int lane_ = {}, down_ = lane_ / {}, across_ = lane_ % {};", d_.lane, kSide, kSide));
  line(fmt::format("const {} top_ = {} * {}, left_ = {} * {};", index_type_, d_.group[1], height, d_.group[0],
                   width));
  if (!p.batch.empty()) declare_indices(p.batch, std::string(d_.group[2]));
  line(fmt::format("float sums_[{}];", down * across));
  line(fmt::format("for (int s_ = 0; s_ < {}; ++s_) sums_[s_] = 0.0f;", down * across));
  open(fmt::format("for ({0} start_ = 0; start_ < {1}; start_ += {2})", index_type_, k, deep));
  fill_tile("a_tile_", p.a, p.rows, "top_", height, m);
  fill_tile("b_tile_", p.b, p.columns, "left_", width, n);
  barrier();
  open(fmt::format("for (int k_ = 0; k_ < {}; ++k_)", deep));
  open(fmt::format("for (int i_ = 0; i_ < {}; ++i_)", down));
  line(fmt::format("const float a_ = a_tile_[k_ * {} + down_ + {} * i_];", height + pad, kSide));
  line(fmt::format(
      "for (int j_ = 0; j_ < {0}; ++j_) sums_[i_ * {0} + j_] += a_ * b_tile_[k_ * {1} + across_ + {2} * j_];",
      across, width + pad, kSide));
  close();
  close();
  barrier();
  close();
  // What is done with the sums.
  open(fmt::format("for (int s_ = 0; s_ < {}; ++s_)", down * across));
  line(fmt::format(
      "const {} down_at_ = top_ + down_ + {} * (s_ / {}), across_at_ = left_ + across_ + {} * (s_ % {});",
      index_type_, kSide, across, kSide, across));
  std::string inside;
  if (m % height != 0) inside = fmt::format("down_at_ < {}", m);
  if (n % width != 0) inside += fmt::format("{}across_at_ < {}", inside.empty() ? "" : " && ", n);
  if (!inside.empty()) open("if (" + inside + ")");
  declare_indices(p.rows, "down_at_");
  declare_indices(p.columns, "across_at_");
  for (const Stmt& loop : kernel_.outer) declare_locals(loop->locals);
  line(device_store(scope_, nest_.tensors.at(p.update->tensor), p.update->view, p.update->position,
                    "sums_[s_]"));
  for (const Stmt& s : p.after) statement(s);
  if (!inside.empty()) close();
  close();
}

}  // namespace kforge::smith
