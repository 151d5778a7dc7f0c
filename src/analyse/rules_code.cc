// Rules from the hot loop as the compiler made it: vectors, strides, chains of dependent operations, spills.
#include <fmt/core.h>

#include <algorithm>

#include "analyse/rules.h"

namespace kforge {
namespace {

// The share of samples in the hot loop, or what a kernel usually has there.
double loop_share(const Known& known) { return known.fact_or("hot_loop_share", 70) / 100; }

std::string missed_text(const Known& known) {
  if (!known.input().profile) return "";
  for (const ProfileText& text : known.input().profile->texts)
    if (text.source == "remarks") return "; the compiler says: " + text.text.substr(0, text.text.find('\n'));
  return "";
}

std::optional<Advice> scalar_loop(const Known& known) {
  auto width = known.fact("hot_loop_vector_bits");
  int widest = known.vector_bits();
  if (!width || widest == 0 || known.fact_or("hot_loop_fp", 0) < 1 || *width >= widest) return std::nullopt;
  bool memory_done = known.bound() == "memory" && known.roofline_fraction().value_or(0) > 0.8;
  if (memory_done) return std::nullopt;
  bool scalar = *width <= 32;
  double factor = scalar ? widest / 64.0 : static_cast<double>(widest) / *width;
  if (known.bound() == "memory")
    factor = std::min(factor, 1 / std::max(0.2, known.roofline_fraction().value_or(0.5)));
  return Advice{
      .bottleneck = scalar ? "the hot loop is scalar"
                           : fmt::format("the hot loop uses {:.0f} of {} vector bits", *width, widest),
      .evidence = fmt::format("{:.0f} floating-point instructions in the loop, {:.0f} bits wide{}",
                              known.fact_or("hot_loop_fp", 0), *width, missed_text(known)),
      .change =
          scalar ? "Make the innermost loop vectors: unit stride over contiguous data, no calls or branches "
                   "in it, __restrict pointers, "
                   "independent partial sums for reductions (or #pragma omp simd reduction); else write it "
                   "with intrinsics."
                 : fmt::format(
                       "Use {}-bit vectors in the innermost loop (intrinsics, or -mprefer-vector-width={}).",
                       widest, widest),
      .expected_gain = std::clamp(amdahl(loop_share(known), factor), 1.05, 8.0),
      .confidence = scalar ? 0.75 : 0.5,
      .tag = "vectorize"};
}

std::optional<Advice> library_calls(const Known& known) {
  double libm = known.fact_or("samples_libm", 0), calls = known.fact_or("hot_loop_calls", 0);
  if (libm < 10 && calls < 1) return std::nullopt;
  return Advice{.bottleneck = "scalar library functions in the hot loop",
                .evidence = libm >= 10 ? fmt::format("{:.0f} % of samples are inside libm", libm)
                                       : fmt::format("the hot loop makes {:.0f} calls", calls),
                .change =
                    "Replace expf, tanhf, erff, logf and the like by a polynomial on whole vectors (range "
                    "reduction, degree 5 to 7, scaling through the "
                    "exponent bits), inlined into the loop.",
                .expected_gain = amdahl(libm >= 10 ? libm / 100 : loop_share(known) * 0.6, 6),
                .confidence = 0.75,
                .tag = "vectorize"};
}

std::optional<Advice> bad_stride(const Known& known) {
  double gathers = known.fact_or("hot_loop_gathers", 0), inserts = known.fact_or("hot_loop_inserts", 0),
         misses = known.fact_or("l1_miss_rate", 0);
  if (gathers < 1 && inserts < 4 && misses < 20) return std::nullopt;
  std::string evidence =
      gathers >= 1 ? fmt::format("{:.0f} gathers in the hot loop", gathers)
      : inserts >= 4
          ? fmt::format("{:.0f} instructions in the hot loop put vectors together element by element",
                        inserts)
          : fmt::format("{:.0f} % of data reads miss the first-level cache", misses);
  return Advice{.bottleneck = "strided access",
                .evidence = evidence,
                .change =
                    "Make the innermost loop run along memory: exchange the loops, or pack the strided "
                    "operand into the order of use (params in prepare(), "
                    "inputs block by block, transposing 8 x 8 or 16 x 16 with shuffles). Pad strides that "
                    "are powers of two.",
                .expected_gain = std::clamp(amdahl(loop_share(known), 2.5), 1.1, 3.0),
                .confidence = 0.6,
                .tag = "pack"};
}

std::optional<Advice> dependent_chain(const Known& known) {
  auto cycles = known.fact("mca_cycles_per_iteration"), throughput = known.fact("mca_throughput_cycles");
  if (!cycles || !throughput || *throughput <= 0 || *cycles / *throughput < 1.5) return std::nullopt;
  if (known.bound() == "memory" && known.roofline_fraction().value_or(0) > 0.7) return std::nullopt;
  double factor = std::min(*cycles / *throughput, 8.0);
  return Advice{.bottleneck = "latency: operations wait for each other",
                .evidence = fmt::format("llvm-mca: {:.3g} cycles per iteration, its units would need {:.3g}",
                                        *cycles, *throughput),
                .change =
                    "Break the chain: keep 8 to 12 independent vector accumulators (unroll over rows, "
                    "columns or k), and add them up after the loop.",
                .expected_gain = std::clamp(amdahl(loop_share(known), factor), 1.1, 6.0),
                .confidence = 0.65,
                .tag = "unroll"};
}

std::optional<Advice> spills(const Known& known) {
  double spilled = known.fact_or("hot_loop_spills", 0);
  if (spilled < 3) return std::nullopt;
  double fp = std::max(1.0, known.fact_or("hot_loop_fp", 1));
  return Advice{
      .bottleneck = "registers: the tile is too large for them",
      .evidence = fmt::format(
          "{:.0f} loads and stores of the stack in the hot loop, beside {:.0f} floating-point instructions",
          spilled, fp),
      .change =
          "Make the register tile smaller: accumulators, loaded operands and broadcasts together must fit 16 "
          "(AVX2) or 32 (AVX-512) registers; "
          "take constant trip counts so that the sums really live in registers.",
      .expected_gain = std::clamp(1 + 0.5 * spilled / fp, 1.1, 2.0),
      .confidence = 0.6,
      .tag = "tile"};
}

std::optional<Advice> divisions(const Known& known) {
  double divisions = known.fact_or("hot_loop_divisions", 0);
  if (divisions < 1 || (known.bound() == "memory" && known.roofline_fraction().value_or(0) > 0.75))
    return std::nullopt;
  return Advice{.bottleneck = "division or square root in the hot loop",
                .evidence = fmt::format("{:.0f} of them per iteration", divisions),
                .change =
                    "Take the division out of the loop: multiply by a reciprocal computed once per row or "
                    "call; where it depends on the element use rcp/rsqrt with one "
                    "Newton step.",
                .expected_gain = 1.3,
                .confidence = 0.45,
                .tag = "algorithm"};
}

}  // namespace

std::vector<Rule> code_rules() {
  return {scalar_loop, library_calls, bad_stride, dependent_chain, spills, divisions};
}

}  // namespace kforge
