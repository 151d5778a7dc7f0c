// How a contraction is computed: register tile, cache blocks, where operands are packed, threads, arithmetic.
// Stored as JSON with the candidate; the emitter does what it says or refuses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "machine/machine.h"
#include "smith/contract/contraction.h"

namespace kforge::smith {

// When an operand is brought into panels (k-major slices as wide as the register tile).
enum class Packing : std::uint8_t {
  kInPlace,  // never: the micro-kernel reads it where it lies
  kPrepare,  // once per set of params, outside the timed calls
  kCall,     // at the start of each call, by all threads together
  kBlock,    // by each thread just before use: a for a block and a slice of k, b panel by panel
};
std::string_view name_of(Packing packing);

enum class Arithmetic : std::uint8_t {
  kFp32,    // fused multiply-add
  kBf16,    // AMX tiles, one product
  kBf16x3,  // AMX tiles, hi*hi + hi*lo + lo*hi: about 2e-5 of the rms
  kBf16x6,  // AMX tiles, six products of a three-way split: as accurate as fp32
};
std::string_view name_of(Arithmetic arithmetic);  // "fp32", "bf16", "bf16x3", "bf16x6"

struct ContractionSchedule {
  int lanes = 8;  // floats in a vector
  int rows = 6;   // register tile: rows x (vectors * lanes) sums
  int vectors = 2;
  long block_m = 96;  // a block of c that stays in L2 while its sums grow
  long block_n = 512;
  long block_k = 256;  // a slice of a panel of b that stays in L1
  Packing a = Packing::kCall;
  Packing b = Packing::kCall;
  int threads = 1;
  Arithmetic arithmetic = Arithmetic::kFp32;
  bool stream = false;      // streaming stores
  int splits = 1;           // parts of k that are summed apart, for results too small to be shared out
  bool winograd = false;    // convolutions: four results from 16 products instead of 36 (winograd.h)
  bool pixel_rows = false;  // convolutions: pixels are rows of the tile, filters its columns (pixel_rows.h)

  int tile_n() const { return vectors * lanes; }
};

std::string to_json(const ContractionSchedule& schedule);
// An Error names the field that is missing, unknown or out of range.
Result<ContractionSchedule> contraction_schedule_from_json(std::string_view json);

// Fits the contraction and could be emitted; an Error says which field does not and why.
Result<> check(const ContractionSchedule& schedule, const Contraction& contraction);

// b is a matrix that no near cache holds, and one panel of rows takes all of it: it streams from memory once.
bool large_matrix(const Operand& b, const Contraction& contraction);
bool streams_b_once(const Contraction& contraction, const ContractionSchedule& schedule);

// Steps of k up to which writing the result takes a good part of the time.
constexpr long kTinyDepth = 128;

// From caches, vector width and shape alone. `precision` is the policy: which arithmetic it allows.
ContractionSchedule first_schedule(const Contraction& contraction, const Machine& machine, int threads,
                                   std::string_view precision = "fp32");

struct ScheduleMove {
  std::string name;  // "block_k 512"
  std::string tag;   // "tile", "pack", "parallelize", "streaming_stores", "precision"
  std::string why;
  ContractionSchedule schedule;
  double expected = 0;  // time in proportion to that of the schedule it leaves (predict.h); 0: not predicted
};
// Legal schedules one step away, best promise first.
std::vector<ScheduleMove> neighbours(const ContractionSchedule& schedule, const Contraction& contraction,
                                     const Machine& machine, std::string_view precision = "fp32");

// Arithmetic that a policy allows on this machine, fastest first; always ends with fp32.
std::vector<Arithmetic> allowed_arithmetic(const Machine& machine, std::string_view precision);

}  // namespace kforge::smith
