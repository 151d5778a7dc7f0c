// What a contraction says about itself: c[batch][row][column] = sum over k of a * b. Every template of this
// folder takes one argument P, a struct of constants and small functions; what most contractions do without
// has its default here. Sizes are constants, so that the compiler unrolls and drops what a case does not
// need.
//
//   struct Tensors { ... };                           pointers to operands, result, and what the epilogue
//   reads kM, kN, kK                                        rows, columns, steps of k kRows, kVectors, kTileN
//   = kVectors * kLanes       the register tile a(t), a_batch(i), a_side(i), a_depth(i)           where a
//   lies: pointer, and offsets; the same for b a_element(t, batch, side, depth)                  one value of
//   an operand that is packed; the same for b finish_vector(t, batch, row, column, sum_at)      kLanes
//   finished sums, sum_at[column] and on, become results finish_element(t, batch, row, column, sum_at) the
//   same for a single one
#pragma once

#include "smith/kernels/vectors/vectors.h"

namespace {

// When an operand is brought into panels: never, once in prepare(), at the start of each call, or by each
// thread just before it uses a block.
enum class Pack { kInPlace, kPrepare, kCall, kBlock };
// What lies side by side in an operand that is packed.
enum class Layout { kOther, kAlongDepth, kAlongSide };
// What is prefetched while a tile is multiplied.
enum class Fetch { kNothing, kRowsOfA, kPanelsOfB, kRowsOfB };

// Columns are pixels of a padded image and k goes over rows of taps; depth and height of each.
struct TapRows {
  long width = 1;  // of the output
  long out[2] = {1, 1}, taps[2] = {1, 1}, strides[2] = {1, 1}, dilations[2] = {1, 1}, begins[2] = {0, 0},
       input[2] = {1, 1};
};

struct ContractionDefaults {
  static constexpr long kBatch = 1;
  static constexpr long kRun = 0;         // columns in a run, where there are several
  static constexpr long kEdge = 0;        // columns of the last panel of a run
  static constexpr bool kStream = false;  // results leave by non-temporal stores

  static constexpr Pack kPackA = Pack::kPrepare, kPackB = Pack::kPrepare;
  static constexpr Layout kLayoutA = Layout::kOther, kLayoutB = Layout::kOther;
  static constexpr long kASide = 0, kADepth = 0, kBSide = 0, kBDepth = 0;  // strides, where there is one
  static constexpr long kAItems = 1, kBItems = 1;  // of the batch that have an operand of their own
  static constexpr long a_item(long) { return 0; }
  static constexpr long b_item(long) { return 0; }
  static constexpr long a_batch_of(long) { return 0; }
  static constexpr long b_batch_of(long) { return 0; }

  static constexpr bool kOffsetTable = false;  // offsets of b along k that no stride gives
  static constexpr bool kGuarded = false;      // nothing may be read behind the last columns of b
  static constexpr bool kAnyWidth = false;     // tiles are finished over any number of columns
  static constexpr bool kStreamsB = false;     // b comes from memory, once: it is prefetched step by step
  static constexpr Fetch kFetch = Fetch::kNothing;
  static constexpr bool kRowsOuter = false;  // all columns of a block for one panel of rows before the next
  static constexpr int kSplits = 1;          // parts of k that are summed apart
  static constexpr long kPartK = 0, kPartStride = 0, kPartFloats = 0;

  static constexpr bool kStaged = false, kStagePrivate = false;  // b is a padded copy; each thread's own
  static constexpr long kStagedItems = 1, kBatchesPerItem = 1, kStagedFloats = 0;
  static constexpr bool kSkipsPadding = false;               // rows of taps that see nothing but padding
  static constexpr long kPlanesAtOnce = 1, kLineFloats = 0;  // small planes of a depthwise convolution
  static constexpr TapRows kTapRows = {};

  // Where buffers begin: operands packed as a whole in prepared or scratch memory; then, in scratch memory,
  // what all threads share and what each has for itself.
  static constexpr long kPackedA = 0, kPackedB = 0, kAllStaged = 0, kParts = 0, kThreadScratch = 0,
                        kPerThread = 0;
  static constexpr long kABlock = 0, kBBlock = 0, kSums = 0, kOwnStaged = 0;
};

// Where b lies for each step of k, relative to its first.
template <class P>
struct DepthOffsets {
  int at[P::kK];
  constexpr DepthOffsets() : at() {
    for (long i = 0; i < P::kK; ++i) at[i] = static_cast<int>(P::b_depth(i));
  }
};
template <class P>
constexpr DepthOffsets<P> kDepthOffsets;

}  // namespace
