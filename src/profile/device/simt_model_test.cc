#include "profile/device/simt_model.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

Chip chip() {
  Chip chip = known_architectures()[4];  // sm_90
  chip.units = 132;
  chip.clock_ghz = 1.8;
  chip.issue_per_clock = 4;
  chip.special_per_clock = 16;
  chip.shared_passes_per_clock = 1;
  chip.sectors_per_clock = 4;
  chip.memory_gb_s = 3000;
  chip.l2_gb_s = 5000;
  chip.l2_mb = 50;
  chip.l1_kb = 128;
  chip.memory_latency_ns = 500;
  chip.l1_latency_clocks = 30;
  chip.shared_latency_clocks = 25;
  chip.arithmetic_latency_clocks = 4;
  chip.barrier_clocks = 30;
  chip.launch_us = 2;
  return chip;
}

// A launch of 4096 blocks of 256 threads, each of which reads and writes four bytes, by whole warps.
emulate::Report streaming(double sectors) {
  emulate::Report report;
  emulate::LaunchCounts launch;
  launch.kernel = "stream";
  launch.grid = {4096, 1, 1};
  launch.block = {256, 1, 1};
  launch.times = 1;
  launch.warps = 4096 * 8;
  const double bytes = 4096.0 * 256 * 4;
  launch.memory = {{"x", static_cast<std::uint64_t>(bytes), bytes * sectors / 4, 0},
                   {"y", static_cast<std::uint64_t>(bytes), 0, bytes}};
  launch.code = {{64, launch.warps, launch.warps * 32}};
  report.launches = {launch};
  emulate::Traffic read;
  read.kernel = "stream";
  read.requests = launch.warps;
  read.units = sectors;
  emulate::Traffic write = read;
  write.write = true;
  write.units = 4;
  report.traffic = {read, write};
  return report;
}

const InstructionMix kMix = {{64, {.instructions = 10, .flops = 1, .special = 0, .frame_bytes = 0}}};

LaunchFigures modelled(const emulate::Report& report, const PtxasKernels& registers = {}) {
  auto launches = model_launches(report, kMix, registers, chip());
  EXPECT_TRUE(launches) << launches.error().message;
  return launches ? launches->front() : LaunchFigures{};
}

TEST(SimtModel, MoreSectorsForTheSameBytesTakeLonger) {
  const LaunchFigures good = modelled(streaming(4)), bad = modelled(streaming(32));
  EXPECT_EQ(good.sectors_per_request, 4);
  EXPECT_EQ(bad.sectors_per_request, 18);
  EXPECT_GT(bad.ns, 1.2 * good.ns);
}

TEST(SimtModel, FiguresAreThoseOfOneLaunch) {
  emulate::Report twice = streaming(4);
  emulate::LaunchCounts& launch = twice.launches[0];
  launch.times = 2;
  launch.warps *= 2;
  for (auto& memory : launch.memory) memory.read *= 2, memory.written *= 2;
  for (auto& code : launch.code) code.issues *= 2, code.lanes *= 2;
  for (auto& row : twice.traffic) row.requests *= 2;
  const LaunchFigures one = modelled(streaming(4)), two = modelled(twice);
  EXPECT_NEAR(one.ns, two.ns, 1e-6 * one.ns);
  EXPECT_NEAR(modelled_ns({two}), 2 * modelled_ns({one}), 1e-6 * one.ns);
}

TEST(SimtModel, ManyRegistersLowerOccupancyAndTakeLonger) {
  const LaunchFigures few = modelled(streaming(4), {{"stream", {.registers = 32}}}),
                      many = modelled(streaming(4), {{"stream", {.registers = 255}}});
  EXPECT_FALSE(few.registers_estimated);
  EXPECT_EQ(few.occupancy.fraction, 1);
  EXPECT_EQ(many.occupancy.limit, "registers");
  EXPECT_EQ(many.occupancy.fraction, 0.125);
  EXPECT_GT(many.ns, few.ns);
}

TEST(SimtModel, BarriersAndConflictsTakeLonger) {
  emulate::Report plain = streaming(4);
  emulate::Traffic shared;
  shared.kernel = "stream";
  shared.shared = true;
  shared.requests = 100 * plain.launches[0].warps;
  shared.units = 1;
  plain.traffic.push_back(shared);
  emulate::Report conflicts = plain, barriers = plain;
  conflicts.traffic.back().units = 16;
  barriers.launches[0].barriers = 4096 * 500;
  EXPECT_GT(modelled(conflicts).ns, 2 * modelled(plain).ns);
  EXPECT_EQ(modelled(conflicts).bound, "shared memory");
  EXPECT_GT(modelled(barriers).ns, modelled(plain).ns);
}

TEST(SimtModel, WhatDoesNotFitIsSaid) {
  emulate::Report report = streaming(4);
  report.launches[0].shared_bytes = 300 << 10;
  auto launches = model_launches(report, kMix, {}, chip());
  ASSERT_FALSE(launches);
  EXPECT_NE(launches.error().message.find("does not fit"), std::string::npos);
}

TEST(Occupancy, IsWhatTheProgrammingGuideSays) {
  const std::vector<Chip> all = known_architectures();
  // 71 registers, 8448 bytes: three eighths on 8.0.
  EXPECT_DOUBLE_EQ(occupancy_of({256, 71, 8448}, all[1]).fraction, 0.375);
  EXPECT_DOUBLE_EQ(occupancy_of({256, 32, 0}, all[1]).fraction, 1);
  EXPECT_EQ(occupancy_of({32, 16, 0}, all[1]).limit, "blocks");
  EXPECT_DOUBLE_EQ(occupancy_of({32, 16, 0}, all[1]).fraction, 0.5);
  EXPECT_EQ(occupancy_of({128, 16, 60 << 10}, all[4]).limit, "shared memory");
  EXPECT_EQ(occupancy_of({2048, 16, 0}, all[4]).blocks, 0);
}

TEST(InstructionMix, CountsArithmeticBetweenTheMarks) {
  const InstructionMix mix = mix_of(
      "0000000000001000 <kernel>:\n"
      "    1000:\tsub    $0x48,%rsp\n"
      "    1004:\tcall   2000 <__sanitizer_cov_trace_pc>\n"
      "    1009:\tmov    %rdi,%rbx\n"
      "    100c:\tcall   2010 <__tsan_read4>\n"
      "    1011:\tvfmadd213ss %xmm1,%xmm2,%xmm3\n"
      "    1016:\tvdivss %xmm1,%xmm2,%xmm3\n"
      "    101a:\tcall   1f00 <expf@plt>\n"
      "    101f:\tcmp    %rax,%rbx\n"
      "    1022:\tjne    1030 <kernel+0x30>\n"
      "    1024:\tcall   2000 <__sanitizer_cov_trace_pc>\n"
      "    1029:\tvaddps %ymm1,%ymm2,%ymm3\n"
      "    102d:\tret\n");
  ASSERT_EQ(mix.size(), 2u);
  const StretchMix& first = mix.at(0x1009);
  EXPECT_EQ(first.flops, 3);
  EXPECT_EQ(first.special, 2);
  EXPECT_EQ(first.instructions, 1 + 8 + 12 + 1 + 1);
  EXPECT_EQ(first.frame_bytes, 0x48);
  EXPECT_EQ(mix.at(0x1029).flops, 8);
}

TEST(Ptxas, ReadsEachKernelAndNotTheFunctionsItCalls) {
  const PtxasKernels kernels = parse_ptxas(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'rows' for 'sm_90'\n"
      "ptxas info    : Function properties for helper\n"
      "    64 bytes stack frame, 1 bytes spill stores, 2 bytes spill loads\n"
      "ptxas info    : Function properties for rows\n"
      "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 1 barriers, 8 bytes cumulative stack size, 1024 bytes smem, "
      "400 bytes cmem[0]\n"
      "ptxas info    : Compiling entry function 'tiles' for 'sm_90'\n"
      "ptxas info    : Function properties for tiles\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 0 barriers, 400 bytes cmem[0]\n");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels.at("rows").registers, 40);
  EXPECT_EQ(kernels.at("rows").shared_bytes, 1024);
  EXPECT_EQ(kernels.at("rows").spill_loads, 12);
  EXPECT_EQ(kernels.at("tiles").registers, 255);
  EXPECT_EQ(kernels.at("tiles").shared_bytes, 0);
}

}  // namespace
}  // namespace kforge
