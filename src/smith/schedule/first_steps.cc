// The analytic guess: which nests share loops, what is tiled for which cache, what threads and lanes get.
//
// Nests that pass rows to each other are fused over the dimensions they have in common, so that what one
// makes the next finds in the nearest cache. Where the common dimensions contain the one along memory (a
// softmax over channels), that one is tiled and every nest runs along the tile.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "smith/schedule/groups.h"
#include "smith/schedule/schedule.h"

namespace kforge::smith {
namespace {

using Kind = StmtNode::Kind;
using Where = TensorInfo::Where;

std::size_t cache_bytes(const Machine& machine, int level, std::size_t otherwise) {
  for (const CacheLevel& cache : machine.caches)
    if (cache.level == level && cache.bytes > 0)
      return cache.bytes / static_cast<std::size_t>(std::max(1, level == 3 ? cache.shared_by : 1));
  return otherwise;
}

std::int64_t count_of(const std::vector<Expr>& variables) {
  std::int64_t count = 1;
  for (const Expr& v : variables) count *= v->integer;
  return count;
}

double work_of(const Stage& stage) {
  return static_cast<double>(count_of(stage.dims)) * static_cast<double>(count_of(stage.reduced)) *
         (1 + cost_of(stage.body) / 8);
}

class Planner {
 public:
  Planner(const Program& program, const Nest& nest, const Machine& machine, int threads)
      : program_(program), nest_(nest), machine_(machine), threads_(threads), classes_(program) {}

  Guess run() {
    for (const Group& group : groups_of(program_, classes_, threads_)) schedule(group);
    stream_outputs();
    return std::move(guess_);
  }

 private:
  bool attempt(Step step) {
    auto next = apply(nest_, step);
    if (!next) return false;
    nest_ = std::move(*next);
    guess_.steps.push_back(std::move(step));
    return true;
  }
  void because(std::string reason) { guess_.reasons.push_back(std::move(reason)); }

  // A long sum along memory reads one stream; several rows at once keep more pages on their way.
  // Returns whether the loop over rows was cut.
  bool rows_at_once(const Stage& stage) {
    constexpr std::int64_t kLongRow = 1024, kRows = 4;
    if (stage.combine == Combine::kNone || stage.reduced.size() != 1 || stage.dims.empty() ||
        stage.scan_axis >= 0 || is_window(stage) || stage.reduced[0]->integer < kLongRow)
      return false;
    const Expr rows = stage.dims.back(), along = stage.reduced[0];
    if (vector_variable(stage) != along || rows->integer % kRows != 0 || cost_of(stage.body) > 8)
      return false;
    if (!attempt({"split", {rows->name}, kRows})) return false;
    if (copying({"distribute", {rows->name}}) && attempt({"reorder", {rows->name + "_1", along->name}}) &&
        attempt({"unroll", {rows->name + "_1"}})) {
      several_rows_.insert(stage.tensor);
      because(fmt::format("{} rows at once: as many pages are on their way from memory", kRows));
    }
    return true;
  }

  // Brings the loops of a stage into the order of `wanted` (names, outermost first) by exchanging neighbours.
  bool order(const std::vector<std::string>& now, const std::vector<std::string>& wanted) {
    std::vector<std::string> current = now;
    for (std::size_t target = 0; target < wanted.size(); ++target) {
      const auto found = std::find(current.begin(), current.end(), wanted[target]);
      if (found == current.end()) return false;
      for (auto i = static_cast<std::size_t>(found - current.begin()); i > target; --i) {
        if (!attempt({"reorder", {current[i - 1], current[i]}})) return false;
        std::swap(current[i - 1], current[i]);
      }
    }
    return true;
  }

  std::int64_t tile_for(const Group& group, std::int64_t extent) {
    // Bytes that one step along memory needs in the group: everything it visits for it.
    // But what is visited once need not stay: only the sums of the tile do.
    double per_column = 0;
    int visits = 0;
    for (const Stage* stage : group.stages) {
      double others = 1;
      for (const Expr& v : stage->dims)
        if (!contains(group.common, classes_.of(v->name))) others *= static_cast<double>(v->integer);
      others *= static_cast<double>(count_of(stage->reduced));
      visits += others > 1;
      per_column = std::max(per_column, others * 4);
    }
    if (visits <= 1) per_column = 64;
    const double l2 = static_cast<double>(cache_bytes(machine_, 2, 1 << 20)) / 2;
    auto tile = static_cast<std::int64_t>(l2 / std::max(4.0, per_column));
    // Pieces of rows shorter than a page are read slowly: rather whole pages, and again from the last cache.
    const double share = static_cast<double>(machine_.last_level_bytes()) / 2 / threads_;
    const std::int64_t page = std::min<std::int64_t>(extent, 1024);
    if (visits > 1 && tile < page && share >= static_cast<double>(page) * per_column) tile = page;
    tile = std::clamp<std::int64_t>(tile / 64 * 64, 64, 4096);
    // Enough tiles for the threads.
    std::int64_t outer = 1;
    for (const std::string& name : group.common) outer *= extent_of(group, classes_, name);
    outer /= extent;
    while (tile > 64 && outer * ((extent + tile - 1) / tile) < 2 * threads_) tile /= 2;
    // A tile that divides the row leaves no remainder.
    for (std::int64_t t = tile; t >= tile / 2 && t >= 32; t -= 16)
      if (extent % t == 0) return t;
    return tile;
  }

  void schedule(const Group& group) {
    if (group.stages[0]->native) return;
    double work = 0;
    for (const Stage* stage : group.stages) work += work_of(*stage);
    const bool threaded = threads_ > 1 && work > 24000;
    const Stage& biggest =
        **std::max_element(group.stages.begin(), group.stages.end(),
                           [](const Stage* a, const Stage* b) { return work_of(*a) < work_of(*b); });
    const Expr vector = vector_variable(biggest);
    const std::string vector_class = vector ? classes_.of(vector->name) : "";
    const bool columns = contains(group.common, vector_class);
    bool only_common = true;
    for (const Stage* stage : group.stages)
      for (const auto* list : {&stage->dims, &stage->reduced})
        for (const Expr& v : *list) only_common &= contains(group.common, classes_.of(v->name));

    // The order of the shared loops; the one along memory last.
    std::vector<std::string> shared = group.common;
    std::int64_t tile = 0;
    if (columns) {
      std::erase(shared, vector_class);
      const std::int64_t extent = extent_of(group, classes_, vector_class);
      std::int64_t outer = 1;
      for (const std::string& name : shared) outer *= extent_of(group, classes_, name);
      if (only_common) {  // elementwise: cut only where threads would go short
        if (outer < 4 * threads_ && extent >= 4096)
          tile =
              std::min<std::int64_t>(16384, std::max<std::int64_t>(1024, extent / (8 * threads_) / 64 * 64));
        for (std::int64_t t = tile; tile > 0 && t >= tile / 2; t -= 64)
          if (extent % t == 0) {
            tile = t;
            break;
          }
      } else if (extent > (is_window(biggest) ? 8192 : 64)) {  // windows run along whole rows
        tile = tile_for(group, extent);
        if (tile >= extent) tile = 0;
      }
    }
    if (biggest.combine == Combine::kNone && tile == 0 && transpose_tiles(group, biggest, threaded)) return;

    std::vector<std::vector<std::string>> loops;  // shared loops of each stage, by name
    for (const Stage* stage : group.stages)
      loops.push_back(shape(*stage, shared, columns ? vector_class : "", tile));
    // Fuse them level by level.
    bool fused = true;
    for (std::size_t s = 1; s < loops.size(); ++s)
      for (std::size_t level = 0; fused && level < loops[0].size(); ++level)
        fused = attempt({"fuse", {loops[0][level], loops[s][level]}});
    if (group.stages.size() > 1 && fused)
      because(fmt::format("{} to {} share their outer loops: what passes between them stays in cache",
                          group.stages[0]->tensor, group.stages.back()->tensor));
    if (tile > 0 && !only_common)
      because(fmt::format("tiles of {} along memory: what a tile needs stays in a cache", tile));
    inner_fusion(group);
    if (group.stages.size() == 1 && !loops[0].empty() && rows_at_once(biggest)) loops[0].back() += "_o";
    for (const Stage* stage : group.stages) lanes(*stage, columns ? vector_class : "");
    if (threaded) threads(loops[0]);
  }

  // Orders a stage's loops, tiles the one along memory, and returns the names of its shared loops.
  std::vector<std::string> shape(const Stage& stage, const std::vector<std::string>& shared,
                                 const std::string& vector_class, std::int64_t tile) {
    std::vector<std::string> now, outer;
    for (const Expr& v : stage.dims) now.push_back(v->name);
    if (stage.scan_axis >= 0) {
      now.erase(now.begin() + stage.scan_axis);
      now.push_back(stage.dims[static_cast<std::size_t>(stage.scan_axis)]->name);
    }
    for (const std::string& name : shared)
      for (const Expr& v : stage.dims)
        if (classes_.of(v->name) == name) outer.push_back(v->name);
    std::string along;
    for (const Expr& v : stage.dims)
      if (!vector_class.empty() && classes_.of(v->name) == vector_class) along = v->name;
    if (!along.empty() && tile > 0 && attempt({"split", {along}, tile})) {
      const auto at = std::find(now.begin(), now.end(), along);
      now.insert(at, along + "_o");
      outer.push_back(along + "_o");
    }
    if (stage.scan_axis < 0) order(now, outer);
    // A reduction across rows runs along them: the sums of a tile lie in the nearest cache.
    if (!along.empty() && stage.combine != Combine::kNone && stage.scan_axis < 0 &&
        vector_variable(stage)->name == along && !is_window(stage) && !stage.node &&
        copying({"distribute", {along}})) {
      std::string moving = along + "_1";
      for (const Expr& r : stage.reduced)
        if (!attempt({"reorder", {moving, r->name}})) break;
      // Several rows at once: as many pages are on their way from memory.
      const std::int64_t count = stage.reduced.back()->integer, at_once = count % 8 == 0 ? 8 : 4;
      if (count % at_once == 0 && count >= 2 * at_once) {
        const std::string rows = stage.reduced.back()->name;
        if (attempt({"split", {rows}, at_once}) && attempt({"reorder", {rows, moving}}))
          attempt({"unroll", {rows}});
      }
    } else if (!along.empty() && stage.scan_axis >= 0 && stage.dims.size() > 1 &&
               copying({"distribute", {along}})) {
      attempt({"reorder", {along + "_1", stage.dims[static_cast<std::size_t>(stage.scan_axis)]->name}});
    }
    return outer;
  }

  static bool is_window(
      const Stage& stage) {  // reads overlap: positions are sums of kept and reduced variables
    bool found = false;
    visit(stage.body, [&](const ExprNode& node) {
      if (node.op != Op::kLoad) return;
      for (const Expr& at : node.args) {
        bool kept = false, gone = false;
        for (const Expr& v : stage.dims) kept |= uses(at, v->name);
        for (const Expr& v : stage.reduced) gone |= uses(at, v->name);
        found |= kept && gone && node.coefs.size() > 1;
      }
    });
    return found;
  }

  // Loops inside of the shared ones that follow each other along the same class: exp and its sum.
  void inner_fusion(const Group& group) {
    for (std::size_t i = 1; i < group.stages.size(); ++i) {
      const Stage &a = *group.stages[i - 1], &b = *group.stages[i];
      // Blocks of a row that are visited several times: all of it for one block, then the next.
      const bool blocks = fuse_blocks(group, a, b);
      if (!a.reduced.empty() && a.reduced.size() == b.reduced.size() && a.view == b.view) {
        // Two sums over the same elements: one pass.
        for (std::size_t level = 0; level < a.reduced.size(); ++level) {
          if (!join_loops(a.reduced[level]->name, b.reduced[level]->name)) break;
        }
        continue;
      }
      if (blocks || a.combine != Combine::kNone || a.dims.empty()) continue;
      const std::string first = a.dims.back()->name;
      const auto& list = b.reduced.empty() ? b.dims : b.reduced;
      if (list.empty()) continue;
      const std::string second = list.back()->name;
      if (classes_.of(first) != classes_.of(second)) continue;
      join_loops(first, second);
    }
  }

  // The loops of two stages inside of the shared ones, where both run along the same dimensions there.
  bool fuse_blocks(const Group& group, const Stage& a, const Stage& b) {
    auto own = [&](const Stage& stage) {
      std::vector<Expr> rest;
      for (const Expr& v : stage.dims)
        if (!contains(group.common, classes_.of(v->name))) rest.push_back(v);
      return rest;
    };
    const auto first = own(a), second = own(b);
    if (first.empty() || first.size() != second.size() || (a.reduced.empty() && b.reduced.empty()))
      return false;
    for (std::size_t d = 0; d < first.size(); ++d)
      if (classes_.of(first[d]->name) != classes_.of(second[d]->name)) return false;
    for (std::size_t d = 0; d < first.size(); ++d)
      if (!join_loops(first[d]->name, second[d]->name)) return d > 0;
    return true;
  }
  // `second` joins the loop that `first` is part of.
  bool join_loops(const std::string& first, const std::string& second) {
    std::string home = first;
    if (const auto found = joined_.find(home); found != joined_.end()) home = found->second;
    if (!find_loop(nest_.root, home) || !find_loop(nest_.root, second)) return false;
    if (!attempt({"fuse", {home, second}})) return false;
    joined_[second] = home;
    return true;
  }

  void lanes(const Stage& stage, const std::string& vector_class) {
    Expr v = vector_variable(stage);
    if (!v) return;
    for (const Expr& d : stage.dims)
      if (!vector_class.empty() && classes_.of(d->name) == vector_class) v = d;
    if (stage.scan_axis >= 0 && stage.scan_axis == static_cast<int>(stage.dims.size()) - 1)
      v = stage.dims.back();
    const bool reduces = !stage.reduced.empty();
    if (is_window(stage)) {
      // Edges apart, the window written out inside of the lanes.
      for (const Expr& d : stage.dims)
        if (d != v && moves_window(stage, d) && d->integer >= 8) peel(d->name);
      peel(v->name);
      std::int64_t window = 1;
      for (std::size_t i = stage.reduced.size(); i-- > 0;) {
        window *= stage.reduced[i]->integer;
        if (window > 32) break;
        for (const std::string& name : pieces_of(stage.reduced[i]->name))
          if (in_long_piece(v->name, name)) attempt({"unroll", {name}});
      }
    } else if (!reduces) {
      peel(v->name);
    }
    for (const std::string& name : pieces_of(v->name)) {
      const Stmt loop = find_loop(nest_.root, name);
      if (!loop || loop->extent < 8) continue;
      const bool sums = reduces && !loop_moves_result(stage, name);
      const int sums_at_once = several_rows_.contains(stage.tensor) ? 2 : 4;  // 16 registers hold them all
      attempt({"vectorize", {name}, sums ? sums_at_once : cost_of(stage.body) > 12 ? 1 : 2});
    }
  }
  // Steps that copy loops are noted, so that what is done to a loop is done to its copies.
  bool copying(const Step& step) {
    const auto before = loop_names(nest_.root);
    if (!attempt(step)) return false;
    for (const std::string& made : loop_names(nest_.root)) {
      if (contains(before, made)) continue;
      std::string from;
      for (const std::string& name : before)
        if (made.starts_with(name + "_") && name.size() > from.size()) from = name;
      const auto known = origin_.find(from);
      origin_[made] = known == origin_.end() ? from : known->second;
    }
    return true;
  }
  void peel(const std::string& name) {
    for (const std::string& piece : pieces_of(name)) copying({"peel", {piece}});
  }
  // A loop and its copies.
  std::vector<std::string> pieces_of(const std::string& name) const {
    std::vector<std::string> pieces{name};
    for (const auto& [made, from] : origin_)
      if (from == name) pieces.push_back(made);
    return pieces;
  }
  // Inside of a piece of a loop that is worth vectors: edges are left as they are.
  bool in_long_piece(const std::string& loop, const std::string& inner) const {
    for (const std::string& name : pieces_of(loop)) {
      const Stmt piece = find_loop(nest_.root, name);
      if (piece && piece->extent >= 8 && find_loop(piece, inner)) return true;
    }
    return false;
  }
  // The window's edges depend on this dimension.
  static bool moves_window(const Stage& stage, const Expr& dim) {
    bool found = false;
    visit(stage.body, [&](const ExprNode& node) {
      if (node.op == Op::kLess || node.op == Op::kLessEqual)
        for (const Expr& e : node.args) found |= uses(e, dim->name);
    });
    return found;
  }
  static bool loop_moves_result(const Stage& stage, const std::string& name) {
    for (const Expr& d : stage.dims)
      if (name.starts_with(d->name)) return true;
    return false;
  }

  void threads(const std::vector<std::string>& loops) {
    // As many of the outer loops as give every thread several pieces.
    std::vector<std::string> chosen;
    std::int64_t pieces = 1;
    for (const std::string& name : loops) {
      const Stmt loop = find_loop(nest_.root, name);
      if (!loop) break;
      chosen.push_back(name);
      pieces *= loop->extent;
      if (pieces >= 8 * threads_) break;
    }
    while (!chosen.empty()) {
      if (attempt({"parallelize", chosen})) {
        because(fmt::format("threads share {} pieces of {}", pieces, chosen.back()));
        return;
      }
      chosen.pop_back();
    }
  }

  // A copy across memory: square tiles, so that lines read down a column are used whole.
  bool transpose_tiles(const Group& group, const Stage& stage, bool threaded) {
    if (group.stages.size() != 1 || stage.dims.size() < 2 || stage.scan_axis >= 0) return false;
    const Expr last = stage.dims.back();
    Expr across;
    visit(stage.body, [&](const ExprNode& node) {
      if (node.op != Op::kLoad) return;
      bool linear = true;
      const Expr flat = flat_position(node.coefs, node.args);
      if (std::abs(coefficient(flat, last->name, &linear)) <= 1) return;
      for (const Expr& v : stage.dims)
        if (v != last && coefficient(flat, v->name, &linear) == 1 && v->integer >= 32) across = v;
    });
    if (!across || last->integer < 32) return false;
    const std::string a = across->name, b = last->name;
    const std::int64_t tile = 64;  // several lines of a page at every visit, and all of a tile in L2
    if (!attempt({"split", {a}, tile}) || !attempt({"split", {b}, tile})) return false;
    std::vector<std::string> now;
    for (const Expr& v : stage.dims) {
      if (v->name == a || v->name == b) now.push_back(v->name + "_o");
      now.push_back(v->name);
    }
    std::vector<std::string> wanted;
    for (const std::string& name : now)
      if (name != a && name != b) wanted.push_back(name);
    const std::vector<std::string> outer = wanted;
    wanted.push_back(a);
    wanted.push_back(b);
    order(now, wanted);
    attempt({"vectorize", {b}, 1});
    because("tiles of 64 x 64: lines read across memory are used whole before they leave the cache");
    if (threaded) threads(outer);
    return true;
  }

  // Stores past the caches do not overlap with arithmetic: behind an exponential, plain ones are faster
  // though they read the lines first.
  bool stored_after_a_function(const std::string& name) const {
    bool found = false;
    visit(nest_.root, [&](const StmtNode& n) {
      found |= n.kind == Kind::kStore && n.tensor == name && has_function(n.value);
    });
    return found;
  }

  // What no near cache holds is not stored through the caches, which would read every line first: ReLU from
  // cold memory takes 1.45 times as long with plain stores from 256 KB on, up to any size. The last cache is
  // no measure: a virtual machine shows one that it shares with strangers. Smaller results may be wanted
  // soon, and are left to the search.
  void stream_outputs() {
    const std::size_t near = std::max<std::size_t>(2 * cache_bytes(machine_, 2, 1 << 20), 1 << 20);
    for (const auto& [name, tensor] : program_.tensors) {
      const std::size_t bytes = static_cast<std::size_t>(element_count(tensor.shape)) * size_of(tensor.dtype);
      if (tensor.where != Where::kOutput || bytes < near) continue;
      if (stored_after_a_function(name)) continue;
      if (attempt({"stream", {name}}))
        because(fmt::format("{} is larger than the near caches and nobody reads it soon: non-temporal stores",
                            name));
    }
  }

  const Program& program_;
  Nest nest_;
  const Machine& machine_;
  int threads_;
  Classes classes_;
  std::map<std::string, std::string> joined_;  // loop that was fused -> the one it joined
  std::map<std::string, std::string> origin_;  // copy of a loop -> the loop
  std::set<std::string> several_rows_;         // tensors whose sums are made for several rows at once
  Guess guess_;
};

}  // namespace

Guess first_steps(const Program& program, const Nest& nest, const Machine& machine, int threads) {
  return Planner(program, nest, machine, threads).run();
}

}  // namespace kforge::smith
