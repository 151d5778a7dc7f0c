#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "base/files.h"
#include "machine/machine.h"
#include "machine/peak_loops.h"

namespace kforge {
namespace {

class PeaksTest : public testing::Test {
 protected:
  PeaksTest() { ::setenv("KFORGE_HOME", dir_.path().c_str(), 1); }
  ~PeaksTest() override { ::unsetenv("KFORGE_HOME"); }
  TempDir dir_ = TempDir::create().value();
};

TEST_F(PeaksTest, MeasuresPlausiblePeaksAndRemembersThem) {
  Machine machine = describe_machine().value();
  auto start = std::chrono::steady_clock::now();
  auto peaks = machine_peaks(machine, machine.threads());
  ASSERT_TRUE(peaks) << peaks.error().text();
  RecordProperty("milliseconds",
                 static_cast<int>((std::chrono::steady_clock::now() - start).count() / 1'000'000));
  EXPECT_GT(peaks->fp32_gflops, 1);
  EXPECT_GT(peaks->fp64_gflops, 0.5);
  EXPECT_EQ(peaks->amx_bf16_gflops > 0, machine.features.contains("amx"));
  ASSERT_GE(peaks->bandwidths.size(), 1u);
  EXPECT_EQ(peaks->bandwidths.back().level, "memory") << "what tensors have: the pages that processes share";
  ASSERT_GE(peaks->bandwidths.size(), 2u);
  EXPECT_EQ(peaks->bandwidths[peaks->bandwidths.size() - 2].level, "memory in large pages");
  for (const Bandwidth& row : peaks->bandwidths) {
    fmt::print("{:7} {:9} bytes: read {:7.1f} GB/s, copy {:7.1f} GB/s\n", row.level, row.bytes, row.read_gb_s,
               row.copy_gb_s);
    EXPECT_GT(row.read_gb_s, 0.2);
    EXPECT_GT(row.copy_gb_s, 0.2);
  }
  fmt::print("fp32 {:.1f}, fp64 {:.1f}, amx {:.1f} GFLOP/s\n", peaks->fp32_gflops, peaks->fp64_gflops,
             peaks->amx_bf16_gflops);

  // Kept, not measured again: measuring would give another moment and other figures.
  auto again = machine_peaks(machine, machine.threads());
  EXPECT_EQ(again->measured_at, peaks->measured_at);
  EXPECT_EQ(again->fp32_gflops, peaks->fp32_gflops);
}

TEST_F(PeaksTest, AnOldOrDamagedRecordIsMeasuredAgain) {
  Machine machine = describe_machine().value();
  machine.caches.clear();
  fs::path record = dir_.path() / "machine" / fmt::format("peaks-{}-1.json", machine.id());
  const char* good =
      R"({"schema":2,"fp32_gflops":7e9,"fp64_gflops":1,"amx_bf16_gflops":0,"threads":1,"measured_at":"then",
    "bandwidths":[{"level":"memory","bytes":0,"read_gb_s":1,"copy_gb_s":1}]})";
  std::ofstream(record) << good;
  EXPECT_EQ(machine_peaks(machine, 1)->fp32_gflops, 7e9);
  fs::last_write_time(record, fs::file_time_type::clock::now() - std::chrono::hours(24 * 8));
  EXPECT_LT(machine_peaks(machine, 1)->fp32_gflops, 1e6);
  std::ofstream(record) << R"({"schema":2,"fp32_gflops":"fast"})";
  EXPECT_LT(machine_peaks(machine, 1)->fp32_gflops, 1e6);
  std::ofstream(record) << good;
  EXPECT_LT(machine_peaks(machine, 1, true)->fp32_gflops, 1e6);
}

// Figures taken while others had the processors are believed for minutes, and only raised by the next ones.
TEST_F(PeaksTest, ADisturbedRecordIsMeasuredAgainSoon) {
  Machine machine = describe_machine().value();
  machine.caches.clear();
  fs::path record = dir_.path() / "machine" / fmt::format("peaks-{}-1.json", machine.id());
  const char* low =
      R"({"schema":2,"fp32_gflops":0.5,"fp64_gflops":0.5,"amx_bf16_gflops":0,"threads":1,"measured_at":"then",
    "disturbed":true,"bandwidths":[{"level":"memory","bytes":0,"read_gb_s":0.01,"copy_gb_s":0.01}]})";
  std::ofstream(record) << low;
  auto known = machine_peaks(machine, 1);
  EXPECT_TRUE(known->disturbed);
  EXPECT_EQ(known->fp32_gflops, 0.5);
  fs::last_write_time(record, fs::file_time_type::clock::now() - std::chrono::minutes(11));
  auto anew = machine_peaks(machine, 1);
  EXPECT_GT(anew->fp32_gflops, 0.5);
  EXPECT_GT(anew->bandwidths[0].read_gb_s, 0.01);
}

// What three cores share is no multiple of a vector.
TEST_F(PeaksTest, ACacheOfOddSizeIsMeasured) {
  Machine machine = describe_machine().value();
  machine.caches = {{3, 3'000'003, 1}};
  auto peaks = machine_peaks(machine, 1);
  ASSERT_TRUE(peaks) << peaks.error().text();
  ASSERT_EQ(peaks->bandwidths.front().level, "L3");
  EXPECT_GT(peaks->bandwidths.front().copy_gb_s, 0.2);
}

// Every loop this machine can run copies faithfully and counts its flops.
TEST(PeakLoops, DoWhatTheyClaim) {
  for (const std::set<std::string>& features : {std::set<std::string>{}, describe_machine()->features}) {
    MemoryLoops loops = choose_memory_loops(features);
    alignas(64) char from[1024], to[1024];
    for (int i = 0; i < 1024; ++i) from[i] = static_cast<char>(i * 7);
    for (auto* copy : {loops.copy, loops.copy_streaming}) {
      std::fill(std::begin(to), std::end(to), 0);
      copy(to, from, sizeof from);
      EXPECT_TRUE(std::equal(from, from + 1024, to));
    }
    loops.read(from, sizeof from);
    FlopLoop flops = choose_flop_loop(features);
    EXPECT_EQ(flops.fp32(10), 2 * flops.fp64(10));
    EXPECT_EQ(flops.fp32(20), 2 * flops.fp32(10));
  }
}

}  // namespace
}  // namespace kforge
