// Rules from the place on the roofline: what limits the task, and how far the program is from that limit.
#include <fmt/core.h>

#include <algorithm>

#include "analyse/rules.h"

namespace kforge {
namespace {

double output_share(const BoundTask& task) {
  double outputs = 0, all = 0;
  for (const BoundArgument& argument : task.arguments) {
    double bytes = static_cast<double>(argument.bytes());
    all += bytes;
    if (argument.role == Role::kOutput || argument.role == Role::kInout) outputs += bytes;
  }
  return all > 0 ? outputs / all : 0;
}

std::string standing(const Known& known) {
  return fmt::format("{:.0f} % of the roofline ({:.3g} GB/s, {:.3g} GFLOP/s), bound by {}",
                     100 * known.roofline_fraction().value_or(0), known.fact_or("achieved_gb_s", 0),
                     known.fact_or("achieved_gflops", 0),
                     known.input().setting ? known.input().setting->roofline_bound : "?");
}

// Ordinary stores fetch the line they overwrite: a third of the traffic of a copy.
std::optional<Advice> streaming(const Known& known) {
  const BoundTask* task = known.task();
  const AgentSetting* setting = known.input().setting;
  if (known.bound() != "memory" || !task || !setting->machine) return std::nullopt;
  double share = output_share(*task);
  bool large =
      task->cost.compulsory_bytes * share > static_cast<double>(setting->machine->last_level_bytes()) / 2;
  auto streaming = known.fact("hot_loop_streaming_stores");
  bool used = streaming ? *streaming > 0 : known.source().find("_stream_") != std::string::npos;
  if (share < 0.15 || !large || used || known.roofline_fraction().value_or(0) > 0.9) return std::nullopt;
  double gain = 1 + share / (1 + share) * 0.8;
  return Advice{
      .bottleneck = "memory bandwidth",
      .evidence = fmt::format(
          "{}; outputs are {:.0f} % of the bytes and larger than the last cache, and are written with "
          "ordinary stores, which fetch each line before overwriting it",
          standing(known), 100 * share),
      .change =
          "Write the output with streaming stores (_mm512_stream_ps or _mm256_stream_ps on whole aligned "
          "lines in "
          "order, _mm_sfence in each thread at the end); keep ordinary stores for unaligned ends.",
      .expected_gain = std::min(gain, 1 / std::max(0.2, known.roofline_fraction().value_or(0.6))),
      .confidence = 0.6,
      .tag = "streaming_stores"};
}

std::optional<Advice> fuse(const Known& known) {
  const BoundTask* task = known.task();
  auto fraction = known.roofline_fraction();
  if (!task || !fraction || *fraction > 0.8 || task->cost.nodes.size() < 2) return std::nullopt;
  double extra = task->cost.unfused_bytes / std::max(1.0, task->cost.compulsory_bytes);
  if (extra < 1.3 || known.bound() != "memory") return std::nullopt;
  // One shared-out loop makes one pass already.
  if (known.count("omp for") + known.count("omp parallel for") == 1) return std::nullopt;
  return Advice{
      .bottleneck = "memory traffic between operators",
      .evidence = fmt::format("{}; operator by operator {:.3g} times the compulsory bytes move",
                              standing(known), extra),
      .change =
          "Fuse the operators into one pass over the data: produce each block (a row, or a tile that fits "
          "the "
          "first-level cache) and use it while it is there, so that no intermediate tensor goes to memory.",
      .expected_gain = std::min({extra, 1 / *fraction, 4.0}),
      .confidence = 0.55,
      .tag = "fuse"};
}

std::optional<Advice> tile_for_caches(const Known& known) {
  auto fraction = known.roofline_fraction();
  const BoundTask* task = known.task();
  if (known.bound() != "compute" || !fraction || *fraction > 0.6 || !task || task->cost.intensity() < 4)
    return std::nullopt;
  // Loads per multiply-add in the hot loop: a good register tile has well under one.
  double fma = known.fact_or("hot_loop_fma", 0), loads = known.fact_or("hot_loop_loads", 0);
  bool starved = fma > 0 && loads / fma > 0.7;
  // Eight or more multiply-adds on few loads are a register tile; whether it spills is another rule's
  // business.
  if (fma >= 8 && !starved) return std::nullopt;
  return Advice{.bottleneck = starved ? "loads: too few multiply-adds per value loaded"
                                      : "data does not stay in registers and caches",
                .evidence = starved
                                ? fmt::format("{}; the hot loop has {:.0f} loads for {:.0f} multiply-adds",
                                              standing(known), loads, fma)
                                : standing(known),
                .change =
                    "Tile for registers and caches: an inner kernel of about 6 x 16 (AVX2) or 14 x 32 "
                    "(AVX-512) sums held in registers over a "
                    "block of k, operands packed so that it reads them in order, blocks sized so that one "
                    "operand stays in the second-level cache.",
                .expected_gain = std::clamp(0.6 / *fraction, 1.1, 8.0),
                .confidence = starved ? 0.7 : 0.5,
                .tag = "tile"};
}

std::optional<Advice> tile_for_traffic(const Known& known) {
  auto fraction = known.roofline_fraction();
  auto misses = known.fact("l1_miss_rate");
  if (!fraction || *fraction > 0.7 || known.bound() != "memory" || !misses || *misses < 8)
    return std::nullopt;
  return Advice{.bottleneck = "data is fetched more than once",
                .evidence = fmt::format("{}; {:.1f} % of data reads miss the first-level cache",
                                        standing(known), *misses),
                .change =
                    "Process the data in blocks that fit the cache (a row, or a tile of rows and columns), "
                    "and do every pass over a block "
                    "before going to the next.",
                .expected_gain = std::clamp(0.7 / *fraction, 1.1, 3.0),
                .confidence = 0.45,
                .tag = "tile"};
}

bool is_product(const BoundTask& task) { return task.cost.intensity() > 20; }

std::optional<Advice> precision(const Known& known) {
  const AgentSetting* setting = known.input().setting;
  const BoundTask* task = known.task();
  if (!task || known.bound() != "compute" || !is_product(*task)) return std::nullopt;
  bool tiles = known.machine_has("amx"), dots = known.machine_has("avx512_bf16");
  if (!tiles && !dots) return std::nullopt;
  bool used = known.source().find("dpbf16") != std::string::npos ||
              known.source().find("dpfp16") != std::string::npos;
  if (used) return std::nullopt;
  double error = known.input().max_rel_error.value_or(0);
  std::string room =
      known.input().max_rel_error
          ? fmt::format("; the program's error is {:.1e}, {:.1e} is allowed", error, setting->tolerance)
          : "";
  if (setting->precision == "fp32") {
    if (!tiles) return std::nullopt;
    return Advice{
        .bottleneck = "fp32 arithmetic",
        .evidence = standing(known) + room + "; AMX multiplies bf16 about 12 times as fast as fp32 vectors",
        .change =
            "Split each operand into three bf16 parts (high, middle, low) and add the six products of "
            "highest order with AMX tiles "
            "into fp32 sums: this reaches fp32 accuracy. Split the params once, in prepare().",
        .expected_gain = 1.5,
        .confidence = 0.3,
        .tag = "precision"};
  }
  int products = setting->precision == "high" ? 3 : 1;
  return Advice{.bottleneck = "fp32 arithmetic where the policy allows less",
                .evidence = fmt::format("{}{}; policy {} allows {:g}", standing(known), room,
                                        setting->precision, setting->tolerance),
                .change = products == 3
                              ? "Split operands into bf16 high and low parts and add three products "
                                "(high*high, high*low, low*high) into fp32 sums, "
                                "with AMX tiles or vdpbf16ps. Declare it: // kforge: arithmetic bf16x3."
                              : "Convert operands to bf16 and multiply with AMX tiles or vdpbf16ps into fp32 "
                                "sums. Declare it: // kforge: arithmetic bf16.",
                .expected_gain = tiles ? (products == 3 ? 2.5 : 5.0) : (products == 3 ? 1.1 : 1.6),
                .confidence = 0.6,
                .tag = "precision"};
}

std::optional<Advice> algorithm(const Known& known) {
  auto fraction = known.roofline_fraction();
  if (!fraction || *fraction < 0.8) return std::nullopt;
  bool memory = known.bound() == "memory";
  return Advice{
      .bottleneck = "the roofline itself",
      .evidence = standing(known),
      .change = memory ? "It moves its bytes about as fast as the machine can. Only fewer bytes help: look "
                         "for values that need not be read or "
                         "written (recomputed, constant, unused), and for params that prepare() can fold."
                       : "It computes about as fast as the machine can. Only fewer operations help: factor "
                         "the algebra (associativity, common "
                         "terms, folding of params in prepare(), Winograd for small filters) within the "
                         "precision policy.",
      .expected_gain = 1.05,
      .confidence = 0.15,
      .tag = "algorithm"};
}

}  // namespace

std::vector<Rule> bound_rules() {
  return {streaming, fuse, tile_for_caches, tile_for_traffic, precision, algorithm};
}

}  // namespace kforge
