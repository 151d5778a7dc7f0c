// Contractions by blocks: every way to pack, edges of every kind, parts of k, a table of offsets.
#include "check.h"
#include "kernel_cases.h"
#include "smith/kernels/contraction/blocked.h"

namespace kforge {
namespace {

// c[3 rows + 1][2 tiles + 5] of a[m][k] (or [k][m]) and b[k][n] (or [n][k]), batch by batch.
template <Pack kA, Pack kB, bool kTransposedA, bool kTransposedB, long kSlice>
struct Product : ContractionDefaults {
  struct Tensors {
    const float *a, *b;
    float* y;
  };
  static constexpr long kBatch = 2, kM = 7, kK = 41;
  static constexpr long kRows = 3, kVectors = 2, kTileN = kVectors * kLanes, kN = kTileN + 5;
  static constexpr long kRowPanels = 3, kTallPanels = 1;  // 3, 2 and 2 rows
  static constexpr long kColumnPanels = 2, kPanelsPerRun = 2, kEdge = 5;
  static constexpr long kBlockRowPanels = 2, kBlockColumnPanels = 1, kBlockK = kSlice;
  static constexpr Pack kPackA = kA, kPackB = kB;
  static constexpr Layout kLayoutA = kTransposedA ? Layout::kAlongSide : Layout::kAlongDepth,
                          kLayoutB = kTransposedB ? Layout::kAlongDepth : Layout::kAlongSide;
  static constexpr long kASide = kTransposedA ? 1 : kK, kADepth = kTransposedA ? kM : 1;
  static constexpr long kBSide = kTransposedB ? kK : 1, kBDepth = kTransposedB ? 1 : kN;
  static constexpr bool kGuarded = kB == Pack::kInPlace;
  static constexpr Fetch kFetch = kB == Pack::kBlock && !kTransposedB ? Fetch::kRowsOfB : Fetch::kNothing;
  static const float* a(const Tensors& t) { return t.a; }
  static const float* b(const Tensors& t) { return t.b; }
  static constexpr long a_batch(long i) { return i * kM * kK; }
  static constexpr long a_side(long i) { return i * kASide; }
  static constexpr long a_depth(long i) { return i * kADepth; }
  static constexpr long b_batch(long) { return 0; }
  static constexpr long b_side(long i) { return i * kBSide; }
  static constexpr long b_depth(long i) { return i * kBDepth; }
  static constexpr long kAItems = 2;
  static constexpr long a_item(long i) { return i; }
  static constexpr long a_batch_of(long i) { return i; }
  static float a_element(const Tensors& t, long batch, long side, long depth) {
    return t.a[a_batch(batch) + a_side(side) + a_depth(depth)];
  }
  static float b_element(const Tensors& t, long, long side, long depth) {
    return t.b[b_side(side) + b_depth(depth)];
  }
  static void pack_b_block(const Tensors& t, const float*, long batch, long panel, long k0, long steps,
                           float* out) {
    pack_b_panel<Product>(t, batch, panel, k0, steps, out);
  }
  static constexpr long kAFloats = kAItems * kRowPanels * kRows * kK, kBFloats = kColumnPanels * kTileN * kK;
  static constexpr long kPackedB = kA == kB ? (kAFloats + 15) / 16 * 16 : 0;
  static constexpr long kThreadScratch = 8192, kPerThread = 4096, kBBlock = 1024, kSums = 2048;
  static void finish_vector(const Tensors& t, long batch, long row, long column, const float* sum_at) {
    store(t.y + (batch * kM + row) * kN + column, load<Vec>(sum_at + column) * 2.0f);
  }
  static void finish_element(const Tensors& t, long batch, long row, long column, const float* sum_at) {
    t.y[(batch * kM + row) * kN + column] = sum_at[column] * 2.0f;
  }
};

template <class P>
const char* check(const char* what) {
  static float a[P::kBatch * P::kM * P::kK], b[P::kN * P::kK], y[P::kBatch * P::kM * P::kN];
  static double want[P::kBatch * P::kM * P::kN];
  alignas(64) static float prepared[16384], scratch[8192 + 2 * 4096 + 64];
  static_assert(P::kPackedB + P::kBFloats < 8192);
  Numbers numbers;
  numbers.fill(a), numbers.fill(b);
  for (long p = 0; p < P::kBatch; ++p)
    for (long i = 0; i < P::kM; ++i)
      for (long j = 0; j < P::kN; ++j) {
        double sum = 0;
        for (long k = 0; k < P::kK; ++k)
          sum += double(a[P::a_batch(p) + P::a_side(i) + P::a_depth(k)]) * b[P::b_side(j) + P::b_depth(k)];
        want[(p * P::kM + i) * P::kN + j] = 2 * sum;
        y[(p * P::kM + i) * P::kN + j] = NAN;
      }
  const typename P::Tensors t = {a, b, y};
  BlockedContraction<P>::prepare(t, prepared);
#pragma omp parallel num_threads(2)
  BlockedContraction<P>::work(t, prepared, scratch);
  return compare(what, y, want, P::kBatch * P::kM * P::kN);
}

const char* every_packing() {
  constexpr Pack in = Pack::kInPlace, prepare = Pack::kPrepare, call = Pack::kCall, block = Pack::kBlock;
  if (auto bad = check<Product<in, in, false, false, 41>>("in place, whole k")) return bad;
  if (auto bad = check<Product<in, in, true, false, 16>>("in place, slices of k")) return bad;
  if (auto bad = check<Product<prepare, prepare, false, false, 41>>("prepared")) return bad;
  if (auto bad = check<Product<prepare, prepare, true, true, 16>>("prepared, transposed")) return bad;
  if (auto bad = check<Product<call, call, false, true, 16>>("packed in the call")) return bad;
  if (auto bad = check<Product<call, block, true, false, 41>>("b by blocks")) return bad;
  if (auto bad = check<Product<block, block, false, true, 16>>("both by blocks, transposed")) return bad;
  return check<Product<block, prepare, true, false, 16>>("a by blocks");
}

// All columns of a block for one panel of rows before the next.
struct RowsOuter : Product<Pack::kInPlace, Pack::kPrepare, false, false, 41> {
  static constexpr bool kRowsOuter = true;
  static constexpr Fetch kFetch = Fetch::kRowsOfA;
  static constexpr long kBlockColumnPanels = 2;
};
// Offsets of b that are looked up, here those of a plain matrix.
struct Table : Product<Pack::kPrepare, Pack::kInPlace, false, false, 16> {
  static constexpr bool kOffsetTable = true;
};
struct Parts : Product<Pack::kCall, Pack::kCall, false, false, 8> {
  static constexpr int kSplits = 3;
  static constexpr long kPartK = 16, kPartStride = kColumnPanels * kTileN + 16,
                        kPartFloats = kBatch * kM * kPartStride, kParts = kThreadScratch;
};
const char* orders_and_parts() {
  if (auto bad = check<RowsOuter>("rows outer")) return bad;
  if (auto bad = check<Table>("table of offsets")) return bad;
  return check<Parts>("parts of k");
}

// One row that sees all of k at once: numbers between 0 and 1, whose sum grows all the way.
struct LongSum : ContractionDefaults {
  struct Tensors {
    float* y;
  };
  static constexpr long kM = 1, kK = 4096, kRows = 1, kVectors = 1, kTileN = kLanes, kN = kTileN;
  static constexpr long kRowPanels = 1, kTallPanels = 1, kColumnPanels = 1, kPanelsPerRun = 1, kEdge = kTileN;
  static constexpr Pack kPackA = Pack::kInPlace;
  static constexpr long kASide = kK, kADepth = 1;
  static void finish_vector(const Tensors& t, long, long, long column, const float* sum_at) {
    store(t.y + column, load<Vec>(sum_at + column));
  }
  static void finish_element(const Tensors&, long, long, long, const float*) {}
};
const char* long_sums() {
  static float a[LongSum::kK], b[LongSum::kK * kLanes], y[kLanes];
  Numbers numbers;
  const auto between = [&] { return (numbers.next() + 8) * 17 / 289 + (numbers.next() + 8) / 289; };
  for (float& x : a) x = between();
  for (float& x : b) x = between();
  Tile<LongSum>::whole_any(1, false, {y}, 0, 0, 0, LongSum::kK, a, b, nullptr);
  double squares = 0;
  for (long j = 0; j < kLanes; ++j) {
    double want = 0;
    for (long k = 0; k < LongSum::kK; ++k) want += double(a[k]) * b[k * kLanes + j];
    squares += (y[j] / want - 1) * (y[j] / want - 1) / kLanes;
  }
  // One chain of all steps is off by 1e-6.
  return std::sqrt(squares) < 3e-7 ? nullptr : wrong("a long sum, relative", std::sqrt(squares), 0);
}

}  // namespace

DEFINE_KERNEL_CASES(contraction, {"LongSums", long_sums}, {"EveryPacking", every_packing},
                    {"OrdersAndPartsOfK", orders_and_parts});

}  // namespace kforge
