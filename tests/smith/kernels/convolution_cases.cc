// Convolutions by each of their methods, with padding, on planes whose rows are no multiple of a vector.
#include "check.h"
#include "kernel_cases.h"
#include "smith/kernels/contraction/depthwise.h"
#include "smith/kernels/contraction/pixel_rows.h"
#include "smith/kernels/contraction/transposed.h"
#include "smith/kernels/contraction/winograd.h"

namespace kforge {
namespace {

struct Image {
  const float *x, *w;
  float* y;
};

// y[image * filters + filter][pixel] for kernels that finish rows (filters) x columns (pixels).
template <long kFilters, long kPixels>
struct StoreImage : ContractionDefaults {
  using Tensors = Image;
  static const float* x(const Tensors& t) { return t.x; }
  static const float* w(const Tensors& t) { return t.w; }
  static constexpr bool kAnyWidth = true;
  static void finish_vector(const Tensors& t, long batch, long row, long column, const float* sum_at) {
    store(t.y + (batch * kFilters + row) * kPixels + column, load<Vec>(sum_at + column));
  }
  static void finish_element(const Tensors& t, long batch, long row, long column, const float* sum_at) {
    t.y[(batch * kFilters + row) * kPixels + column] = sum_at[column];
  }
};

// 2 images of 9 channels, 9 x 21, padded by one; 11 filters of 3 x 3.
template <bool kPrivate>
struct WinogradCase : StoreImage<11, 9 * 21> {
  static constexpr long kBatch = 2, kM = 11, kK = 9, kDepth = 1;
  static constexpr long kRows = 4, kVectors = 1, kTileN = kLanes, kEdge = kTileN, kPanelsPerRun = 1,
                        kColumnPanels = 1;
  static constexpr long kRowPanels = 3, kTallPanels = 2, kBlockRowPanels = 2, kBlockRows = 8;
  static constexpr long kOutD = 1, kOutH = 9, kOutW = 21;
  static constexpr long kTileRows = 5, kBlockTileRows = 2, kTiles = (11 + kLanes - 1) / kLanes * kLanes;
  static constexpr long kPointStride = kBlockTileRows * kTiles * kK + 16,
                        kSumsStride = kBlockTileRows * kTiles + 16;
  static constexpr long kChannels = 9, kInD = 1, kInH = 9, kInW = 21, kPadD = 0, kPadH = 1, kPadW = 1;
  static constexpr long kStagedD = 1, kStagedH = 12, kStagedW = 12, kPhases = 2;
  static constexpr long kRowStride = 24, kPlaneStride = 12 * 24, kChannelStride = 304;
  static constexpr bool kStagePrivate = kPrivate;
  static constexpr long kThreads = 2, kStagedFloats = 9 * 304 + 256,
                        kPerThread = 16 * kPointStride + 16 * kSumsStride * kBlockRows + 512;
  static float weight(const Tensors& t, long filter, long channel, long, int tap) {
    return t.w[(filter * kChannels + channel) * 9 + tap];
  }
};

template <class P>
const char* check_winograd(const char* what) {
  static float x[2 * 9 * 9 * 21], w[11 * 9 * 9], y[2 * 11 * 9 * 21];
  static double want[2 * 11 * 9 * 21];
  alignas(64) static float prepared[16 * 3 * 4 * 9], scratch[2 * P::kPerThread + 2 * P::kStagedFloats + 64];
  Numbers numbers;
  numbers.fill(x), numbers.fill(w);
  for (long n = 0; n < 2; ++n)
    for (long f = 0; f < 11; ++f)
      for (long i = 0; i < 9; ++i)
        for (long j = 0; j < 21; ++j) {
          double sum = 0;
          for (long c = 0; c < 9; ++c)
            for (long tap = 0; tap < 9; ++tap) {
              const long h = i + tap / 3 - 1, v = j + tap % 3 - 1;
              if (h >= 0 && h < 9 && v >= 0 && v < 21)
                sum += double(x[((n * 9 + c) * 9 + h) * 21 + v]) * w[(f * 9 + c) * 9 + tap];
            }
          want[((n * 11 + f) * 9 + i) * 21 + j] = sum;
        }
  Winograd<P>::prepare({x, w, y}, prepared);
#pragma omp parallel num_threads(2)
  Winograd<P>::work({x, w, y}, prepared, scratch);
  return compare(what, y, want, 2 * 11 * 9 * 21);
}
const char* winograd() {
  if (auto bad = check_winograd<WinogradCase<true>>("an image a thread")) return bad;
  return check_winograd<WinogradCase<false>>("images shared");
}

// 3 images of 2 channels, 5 x 7, padded by one; 19 filters of 3 x 3: tiles of two rows of the image, the last
// of one; blocks of two images, or of two tiles.
template <bool kPrivate>
struct PixelCase : StoreImage<19, 5 * 7> {
  static constexpr long kBatch = 3, kM = 19, kN = 35, kK = 18;
  static constexpr long kTall = 14, kLow = 7, kVectors = 1, kTileN = kLanes, kPanels = 3, kPanelsPerRun = 1,
                        kTallPerRun = 1, kRunPixels = 14, kRowPixels = 7, kRowOffset = 9;
  static constexpr long kFilterPanels = (19 + kLanes - 1) / kLanes,
                        kBlockFilterPanels = kPrivate ? kFilterPanels : 1;
  static constexpr long kBlockImages = kPrivate ? 2 : 1, kBlockPanels = kPrivate ? 3 : 2,
                        kBlockPixels = kPrivate ? 35 : 28, kBlockK = 8;
  static constexpr bool kOffsetTable = true, kStaged = true, kStagePrivate = kPrivate;
  static constexpr long a_batch(long) { return 0; }
  static constexpr long a_side(long i) { return i * 18; }
  static constexpr long b_batch(long) { return 0; }
  static constexpr long b_side(long i) { return i / 7 * 9 + i % 7; }
  static constexpr long b_depth(long i) { return i / 9 * 64 + i / 3 % 3 * 9 + i % 3; }
  static constexpr long kASide = 18;
  static constexpr Layout kLayoutA = Layout::kAlongDepth;
  static const float* a(const Tensors& t) { return t.w; }
  static float a_element(const Tensors& t, long, long side, long depth) { return t.w[side * 18 + depth]; }
  static constexpr long kChannels = 2, kInD = 1, kInH = 5, kInW = 7, kPadD = 0, kPadH = 1, kPadW = 1;
  static constexpr long kStagedD = 1, kStagedH = 7, kStagedW = 9, kPhases = 1;
  static constexpr long kRowStride = 9, kPlaneStride = 63, kChannelStride = 64, kStagedFloats = 384;
  static constexpr long kThreadScratch = kPrivate ? 0 : 3 * kStagedFloats,
                        kLines = kBlockImages * kBlockPixels * kTileN, kOwnStaged = kLines + kLanes * 80,
                        kPerThread = kOwnStaged + 2 * kStagedFloats;
};

template <class P>
const char* check_pixel_rows(const char* what) {
  static float x[3 * 2 * 35], w[19 * 18], y[3 * 19 * 35];
  static double want[3 * 19 * 35];
  alignas(64) static float prepared[P::kFilterPanels * P::kTileN * 18],
      scratch[P::kThreadScratch + 2 * P::kPerThread];
  Numbers numbers;
  numbers.fill(x), numbers.fill(w);
  for (long n = 0; n < 3; ++n)
    for (long f = 0; f < 19; ++f)
      for (long i = 0; i < 35; ++i) {
        double sum = 0;
        for (long k = 0; k < 18; ++k) {
          const long h = i / 7 + k / 3 % 3 - 1, v = i % 7 + k % 3 - 1;
          if (h >= 0 && h < 5 && v >= 0 && v < 7)
            sum += double(x[((n * 2 + k / 9) * 5 + h) * 7 + v]) * w[f * 18 + k];
        }
        want[(n * 19 + f) * 35 + i] = sum;
      }
  PixelRows<P>::prepare({x, w, y}, prepared);
#pragma omp parallel num_threads(2)
  PixelRows<P>::work({x, w, y}, prepared, scratch);
  return compare(what, y, want, 3 * 19 * 35);
}
const char* pixel_rows() {
  if (auto bad = check_pixel_rows<PixelCase<true>>("two images a block")) return bad;
  return check_pixel_rows<PixelCase<false>>("two tiles a block");
}

// 3 planes of 8 x 37; 3 x 3 taps, in place or padded by one.
template <bool kPadded, bool kNonTemporal, long kWide = 37>
struct DepthwiseCase : StoreImage<1, (kPadded ? 8 * kWide : 6 * (kWide - 2))> {
  static constexpr bool kStaged = kPadded, kStream = kNonTemporal;
  static constexpr long kPlanes = 3, kGroups = 3, kFilters = 1, kTaps = 9, kTapsH = 3, kTapsW = 3;
  static constexpr long kStrideD = 1, kStrideH = 1, kDilationD = 1, kDilationH = 1, kDilationW = 1;
  static constexpr long kOutRows = kPadded ? 8 : 6, kOutH = kOutRows, kOutW = kPadded ? kWide : kWide - 2;
  static constexpr long kPieceRows = kPadded ? kOutRows : 4, kRowsAtOnce = 2, kInputPlane = 8 * kWide;
  static constexpr long kChannels = 1, kInD = 1, kInH = 8, kInW = kWide, kPadD = 0, kPadH = 1, kPadW = 1;
  static constexpr long kStagedD = 1, kStagedH = 10, kStagedW = kWide + 2, kPhases = 1;
  static constexpr long kRowStride = kPadded ? kWide + 2 : kWide,
                        kPlaneStride = kRowStride * (kPadded ? 10 : 8), kChannelStride = 400;
  static constexpr long kPerThread = 1024, kOwnStaged = 256;
};

template <class P>
const char* check_depthwise(const char* what) {
  constexpr long size = P::kPlanes * P::kOutRows * P::kOutW;
  constexpr long wide = P::kInW;
  static float x[3 * 8 * wide], w[27];
  alignas(64) static float y[size], scratch[2048];
  static double want[size];
  Numbers numbers;
  numbers.fill(x), numbers.fill(w);
  const long pad = P::kStaged ? 1 : 0;
  for (long p = 0; p < 3; ++p)
    for (long i = 0; i < P::kOutRows; ++i)
      for (long j = 0; j < P::kOutW; ++j) {
        double sum = 0;
        for (long tap = 0; tap < 9; ++tap) {
          const long h = i + tap / 3 - pad, v = j + tap % 3 - pad;
          if (h >= 0 && h < 8 && v >= 0 && v < wide)
            sum += double(x[(p * 8 + h) * wide + v]) * w[p * 9 + tap];
        }
        want[(p * P::kOutRows + i) * P::kOutW + j] = sum;
      }
#pragma omp parallel num_threads(2)
  Depthwise<P>::work({x, w, y}, nullptr, scratch);
  return compare(what, y, want, size);
}
const char* depthwise() {
  if (auto bad = check_depthwise<DepthwiseCase<false, false>>("in place")) return bad;
  if (auto bad = check_depthwise<DepthwiseCase<true, false>>("padded")) return bad;
  if (auto bad = check_depthwise<DepthwiseCase<true, false, 3>>("narrower than a vector")) return bad;
  return check_depthwise<DepthwiseCase<false, true>>("aligned pieces");
}

// 2 images of 3 channels, 5 x 9, to 7 filters; 3 x 3 taps, stride kS, padding 1.
template <long kS, bool kPrivate>
struct TransposedCase : StoreImage<7, (4 * kS + 1) * (8 * kS + 1)> {
  static constexpr long kBatch = 2, kGroups = 1, kM = 7, kK = 27;
  static constexpr long kRows = 4, kVectors = 1, kTileN = kLanes, kRowPanels = 2, kTallPanels = 1;
  static constexpr long kOutH = 4 * kS + 1, kOutW = 8 * kS + 1, kOutRows = kOutH, kPieceRows = 3;
  static constexpr long kColumns = (kOutW + kS - 1) / kS;
  static constexpr long kPanelsPerRun = (kColumns + kTileN - 1) / kTileN, kColumnPanels = kPanelsPerRun,
                        kEdge = kColumns - (kPanelsPerRun - 1) * kTileN;
  static constexpr Pack kPackA = kPrivate ? Pack::kPrepare : Pack::kCall, kPackB = Pack::kInPlace;
  static constexpr bool kOffsetTable = true, kStagePrivate = kPrivate;
  static constexpr long kTaps = 9, kTapsD = 1, kTapsH = 3, kTapsW = 3;
  static constexpr long kStrideD = 1, kStrideH = kS, kStrideW = kS;
  static constexpr long kDilationD = 1, kDilationH = 1, kDilationW = 1;
  static constexpr long kBeginD = 0, kBeginH = 1, kBeginW = 1;
  // Input positions from -2 (two taps back) to 10.
  static constexpr long kChannels = 3, kInD = 1, kInH = 5, kInW = 9, kPadD = 0, kPadH = 2, kPadW = 2;
  static constexpr long kStagedD = 1, kStagedH = 8, kStagedW = 13, kPhases = 1;
  static constexpr long kRowStride = 13, kPlaneStride = 8 * 13, kChannelStride = 112;
  static constexpr long kStagedFloats = 3 * 112 + 256, kAllStaged = 256;
};

template <class P>
const char* check_transposed(const char* what) {
  constexpr long height = P::kOutH, width = P::kOutW, size = 2 * 7 * height * width, s = P::kStrideW;
  static float x[2 * 3 * 5 * 9], w[3 * 7 * 9], y[size];
  static double want[size];
  alignas(64) static float prepared[512], scratch[256 + 2 * P::kStagedFloats];
  Numbers numbers;
  numbers.fill(x), numbers.fill(w);
  for (double& v : want) v = 0;
  for (long n = 0; n < 2; ++n)
    for (long c = 0; c < 3; ++c)
      for (long i = 0; i < 5; ++i)
        for (long j = 0; j < 9; ++j)
          for (long f = 0; f < 7; ++f)
            for (long tap = 0; tap < 9; ++tap) {
              const long h = i * s + tap / 3 - 1, v = j * s + tap % 3 - 1;
              if (h >= 0 && h < height && v >= 0 && v < width)
                want[((n * 7 + f) * height + h) * width + v] +=
                    double(x[((n * 3 + c) * 5 + i) * 9 + j]) * w[(c * 7 + f) * 9 + tap];
            }
  TransposedConvolution<P>::prepare({x, w, y}, prepared);
#pragma omp parallel num_threads(2)
  TransposedConvolution<P>::work({x, w, y}, prepared, scratch);
  return compare(what, y, want, size);
}
const char* transposed() {
  if (auto bad = check_transposed<TransposedCase<2, true>>("stride 2")) return bad;
  if (auto bad = check_transposed<TransposedCase<3, false>>("stride 3")) return bad;
  if (auto bad = check_transposed<TransposedCase<4, true>>("stride 4")) return bad;
  return check_transposed<TransposedCase<5, false>>("stride 5");
}

}  // namespace

DEFINE_KERNEL_CASES(convolution, {"Winograd", winograd}, {"PixelRows", pixel_rows}, {"Depthwise", depthwise},
                    {"Transposed", transposed});

}  // namespace kforge
