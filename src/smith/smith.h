// The smith: a bound graph, a machine and a schedule become the source of a kernel, with no model and no key.
// Pure: nothing here touches files or processes; racing the programs is the forge's work.
//
//   kernels/   code that emitted programs are made of, as files that a compiler sees
//   expr/      values and positions as expressions
//   graph/     ONNX operators become stages (tensors defined by expressions), simplified and fused
//   loops/     stages become loop nests in an immutable IR that can be printed and interpreted
//   schedule/  named transformations of loop nests, each checking its own legality; stored as JSON
//   emit/      loop nests become C++
//   contract/  matrix products and convolutions, which get kernels of their own kind
//   attention/ softmax between two products, as one kernel
//   device/    loop nests become kernels in the languages of devices, and the plan that launches them
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "smith/device/device_design.h"
#include "smith/graph/problem.h"

namespace kforge::smith {

// One program.
struct Design {
  std::string schedule;  // JSON: the transformations of each kernel in order; design_from() replays it
  std::string source;    // kernel.cc: includes task.h, needs nothing else
  std::string summary;   // why it is made like this, a few lines
  std::string arithmetic = "fp32";  // "fp32", "bf16x6", "bf16x3", "bf16"
  bool algebraic = false;  // does less arithmetic than the graph says (a sum moved through a product)
};

// A legal schedule one step away from a design's own.
struct Move {
  std::string name;  // "stream_stores y"
  std::string tag;   // as the rule analyst's: "vectorize", "tile", "parallelize", "unroll",
                     // "streaming_stores", "fuse", "pack", "precision", "split_reduction", "reorder"
  std::string why;   // one line: what it may gain
  std::string schedule;
  double expected = 0;  // time in proportion to the design's own, by an analytic model; 0: none for this move
};

// The analytic guess from caches, threads and shapes. `remembered_schedule` (what won on this family before)
// is used instead where it still fits. An operator the smith cannot write is an Error that names it.
Result<Design> first_design(const Problem& problem, std::string_view remembered_schedule = {});
// Replays a schedule; an Error names the transformation that is not legal and why.
Result<Design> design_from(const Problem& problem, std::string_view schedule);
// Neighbouring schedules, best promise first. May be empty.
std::vector<Move> moves(const Problem& problem, const Design& design);
// Kernel family and shape bucket ("row_reduction/f32/rows4096/columns8192"): the key under which what won is
// remembered. Never empty.
std::string family(const Problem& problem);
// The loop nests of a schedule (empty: of the first design), as a person reads them.
Result<std::string> print_loops(const Problem& problem, std::string_view schedule = {});

}  // namespace kforge::smith
