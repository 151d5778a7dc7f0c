// Kernels for instruction sets that most machines lack: what the smith writes for AVX-512 and AMX, one task
// for each emitter, judged on shapes small and odd. On every machine over SIMDe and emulated tiles (the same
// text, built for x86-64-v2 with emulated_isa/immintrin.h in the place of the compiler's own); tile
// instructions themselves where the machine has them. AVX-512 itself: suite_test, all tasks.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <span>

#include "compiled_kernels.h"
#include "judged.h"
#include "machine/amx.h"
#include "smith_problem.h"

namespace kforge {
namespace {

struct Wanted {
  const char* task;
  const char* move = "";   // from the first design, by the start of its name
  const char* shows = "";  // what only this emitter writes
  const char* policy = "fp32";
  std::map<std::string, std::int64_t> dims = {};  // in place of `odd`: large enough for the emitter
};

const Wanted kAvx512[] = {{"core/gelu"},
                          {"core/layer_norm"},
                          {"core/softmax"},
                          {"core/argmax"},
                          {"core/max_pool2d"},
                          {"core/cumsum"},
                          {"core/transpose"},
                          {"core/matmul_transposed_both"},
                          {"core/conv2d_5x9"},
                          {"core/conv2d_3x3",
                           "winograd",
                           "Winograd",
                           "fp32",
                           {{"B", 3}, {"C", 9}, {"F", 20}, {"H", 22}, {"W", 35}}},
                          {"core/conv2d_3x3",
                           "pixels as rows",
                           "PixelRows<",
                           "fp32",
                           {{"B", 3}, {"C", 40}, {"F", 35}, {"H", 9}, {"W", 9}}},
                          {"core/conv2d_depthwise_3x3"},
                          {"core/conv_transpose2d_grouped"},
                          {"core/scaled_dot_product_attention"},
                          {"llm/int8_grouped_gemm"},
                          {"llm/silu_mul"}};
const Wanted kTiles[] = {
    {"core/matmul", "arithmetic bf16x6", "AmxContraction", "fp32", {{"M", 45}, {"K", 77}, {"N", 70}}},
    {"core/matmul_batched",
     "arithmetic bf16x3",
     "AmxContraction",
     "high",
     {{"B", 2}, {"M", 45}, {"K", 77}, {"N", 70}}},
    {"fusion/gemm_scale_leakyrelu",
     "arithmetic bf16x3",
     "AmxContraction",
     "high",
     {{"B", 45}, {"K", 77}, {"N", 70}}}};

// As a machine that has all of it would be described.
Machine wide_machine() {
  Machine machine = describe_machine().value();
  for (const char* feature :
       {"avx", "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512dq", "avx512vl", "amx"})
    machine.features.insert(feature);
  return machine;
}

struct Cases {
  std::vector<std::unique_ptr<Task>> tasks;
  std::vector<BoundTask> bound;
  std::vector<KernelSource> sources;
  std::vector<std::string> policies;
};

// The first design, or the one that the named move leads to.
Result<smith::Design> wanted_design(const smith::Problem& problem, const Wanted& wanted) {
  KF_TRY(smith::Design design, smith::first_design(problem));
  if (!*wanted.move || design.source.find(wanted.shows) != std::string::npos) return design;
  for (const smith::Move& move : smith::moves(problem, design))
    if (move.name.starts_with(wanted.move)) return smith::design_from(problem, move.schedule);
  return design;  // the shape is too small for it
}

// REQUIRES: every wanted emitter is met on at least one of the shapes.
void add(Cases& cases, std::span<const Wanted> all) {
  const Machine machine = wide_machine();
  for (const Wanted& wanted : all) {
    auto loaded = load_task(wanted.task);
    ASSERT_TRUE(loaded) << loaded.error().text();
    cases.tasks.push_back(std::make_unique<Task>(std::move(*loaded)));
    ASSERT_TRUE(set_dims(*cases.tasks.back(), "odd", wanted.dims));
    bool met = false;
    for (const char* shapes : {"small", "odd"}) {
      auto bound = bind_task(*cases.tasks.back(), shapes);
      ASSERT_TRUE(bound) << bound.error().text();
      smith::Problem problem = smith_problem(*bound, machine, 2);
      problem.precision = wanted.policy;
      auto design = wanted_design(problem, wanted);
      ASSERT_TRUE(design) << wanted.task << ": " << design.error().text();
      met |= design->source.find(wanted.shows) != std::string::npos;
      cases.bound.push_back(std::move(*bound));
      cases.sources.push_back({std::move(problem), design->source});
      cases.policies.emplace_back(wanted.policy);
    }
    EXPECT_TRUE(met) << wanted.task << " has no design with " << wanted.shows;
  }
}

void judge_all(const Cases& cases, const std::vector<std::string>& flags) {
  auto calls = compile_kernels(cases.sources, flags, 10);
  ASSERT_TRUE(calls) << calls.error().text();
  for (std::size_t i = 0; i < cases.bound.size(); ++i)
    EXPECT_EQ(judge(cases.bound[i], (*calls)[i], cases.policies[i]), "")
        << cases.bound[i].task->name << " " << cases.bound[i].shape_set;
}

TEST(SmithWide, Avx512AndTilesByEmulation) {
#ifndef KFORGE_SIMDE
  GTEST_SKIP() << "built without libsimde-dev";
#endif
  Cases cases;
  add(cases, kAvx512);
  add(cases, kTiles);
  judge_all(cases, {"-march=x86-64-v2", "-I", KFORGE_EMULATED_ISA, "-include",
                    KFORGE_EMULATED_ISA "/immintrin.h", "-w"});
}

TEST(SmithWide, TileInstructions) {
  const auto machine = describe_machine();
  ASSERT_TRUE(machine) << machine.error().text();
  if (!machine->features.contains("amx")) GTEST_SKIP() << "no AMX";
  ASSERT_TRUE(amx::request_permission());
  Cases cases;
  add(cases, kTiles);
  judge_all(cases, {"-march=x86-64-v4", "-mprefer-vector-width=512", "-mamx-tile", "-mamx-bf16"});
}

}  // namespace
}  // namespace kforge
