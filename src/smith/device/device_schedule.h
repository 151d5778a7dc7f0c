// Loop nests as kernels of a device: which nests share a kernel, and what threads and workgroups get.
//
//   threads  every element of the outer loops is a thread of its own; what is inside runs in that thread
//   rows     every element of the outer loops is a workgroup; its threads share the loops inside, and combine
//            what those reduce through shared memory
//   tiles    a matrix product (or convolution): a workgroup computes a tile of the result, both operands pass
//            through shared memory, every thread holds several sums in registers
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "smith/device/device_choices.h"
#include "smith/loops/loops.h"
#include "smith/schedule/transform.h"

namespace kforge::smith {

// A sum of products whose two factors belong to different outer loops.
struct TileProduct {
  std::vector<Stmt> rows, columns, batch;  // outer loops: of a, of b, of both (or neither)
  std::vector<Stmt> depth;                 // reduced loops, outermost first
  Expr a, b;                               // factors, with the condition under which they are not zero
  Stmt update;
  std::vector<Stmt> after;  // what is done with the sum
};

struct DeviceKernel {
  enum class Kind : std::uint8_t { kThreads, kRows, kTiles };
  Kind kind = Kind::kThreads;
  std::vector<Stmt> outer;  // loops, outermost first
  std::vector<Stmt> body;   // what is inside of them
  std::optional<TileProduct> product;
  int block = 256;
  DeviceChoices choices;
  std::string note;  // for people

  std::int64_t items() const;  // iterations of the outer loops
};

// Of the nest that `loops` make.
std::int64_t iterations_of(const std::vector<Stmt>& loops);

struct DeviceKernels {
  Nest nest;  // temporaries of a single kernel have become locals where they are small
  std::vector<DeviceKernel> kernels;
  std::vector<Step> steps;  // fusions, in order
};
// `keep`: temporaries that others read later, which stay buffers. An Error where the nest contains what no
// kernel can be made of (native code).
Result<DeviceKernels> schedule_kernels(const Nest& nest, const std::set<std::string>& keep = {});

// The loops of a nest that threads can share, from a loop inwards while nested directly; empty where they
// cannot.
std::vector<Stmt> shared_loops(const Nest& nest, const Stmt& loop);
// Updates below a loop whose place the loop does not move: they are combined over its iterations.
std::vector<Stmt> carried_updates(const Stmt& loop);

}  // namespace kforge::smith
