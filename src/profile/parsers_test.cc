// The parsers on texts as their tools write them, and on texts nobody should write.
#include "profile/parsers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "profile/disassembly.h"
#include "profile/fact_value.h"
#include "profile/read_profile.h"

namespace kforge {
namespace {

using testing::HasSubstr;

const char* kListing = R"(
0000000000001100 <helper>:
    1100:	xor    %eax,%eax
    1102:	add    $0x1,%eax
    1105:	cmp    $0x8,%eax
    1108:	jne    1102 <helper+0x2>
    110a:	ret

0000000000001200 <kernel>:
kernel():
/tmp/x/src/kernel.cc:10
    1200:	vxorps %xmm0,%xmm0,%xmm0
/tmp/x/src/kernel.cc:12 (discriminator 3)
    1208:	vmovups (%rdi,%rax,1),%zmm1
    1210:	vfmadd231ps (%rsi,%rax,1),%zmm1,%zmm0        # 2000 <table>
    1218:	vmovaps %zmm0,0x40(%rsp)
    1220:	vmovntps %zmm0,(%rdx,%rax,1)
    1228:	add    $0x40,%rax
    122c:	cmp    %rax,%rcx
    122f:	jne    1208 <kernel+0x8>
    1231:	jmp    1200 <kernel>
)";

// Names of integer instructions end like those of scalar floats.
TEST(HotLoop, IntegersAreNoScalarFloats) {
  Findings findings;
  ASSERT_TRUE(parse_hot_loop({"hot_loop", R"(
0000000000001200 <kernel>:
kernel():
/tmp/x/src/kernel.cc:12
    1208:	vpmaxsd (%rdi,%rax,1),%zmm2,%zmm1
    1210:	vpdpbusd (%rsi,%rax,1),%zmm1,%zmm0
    1214:	vpminsd %zmm3,%zmm0,%zmm0
    1218:	vmulps %zmm0,%zmm4,%zmm5
    1228:	add    $0x40,%rax
    122c:	cmp    %rax,%rcx
    122f:	jne    1208 <kernel+0x8>
)",
                              "", ""},
                             findings));
  EXPECT_EQ(fact(findings.profile, "hot_loop_vector_bits"), 512);
  EXPECT_EQ(fact(findings.profile, "hot_loop_fp"), 1);
}

TEST(HotLoop, InnermostLoopWithMostVectorWork) {
  Findings findings;
  ASSERT_TRUE(parse_hot_loop({"hot_loop", kListing, "", ""}, findings));
  const Profile& p = findings.profile;
  EXPECT_EQ(fact(p, "hot_loop_instructions"), 7);
  EXPECT_EQ(fact(p, "hot_loop_vector_bits"), 512);
  EXPECT_EQ(fact(p, "hot_loop_fma"), 1);
  EXPECT_EQ(fact(p, "hot_loop_loads"), 2);
  EXPECT_EQ(fact(p, "hot_loop_stores"), 2);
  EXPECT_EQ(fact(p, "hot_loop_spills"), 1);
  EXPECT_EQ(fact(p, "hot_loop_streaming_stores"), 1);
  EXPECT_THAT(hot_loop_of(p), HasSubstr("; kernel.cc:12"));
  EXPECT_THAT(findings.hot_loop_assembly, HasSubstr("vfmadd231ps (%rsi,%rax,1),%zmm1,%zmm0\n"));
  EXPECT_EQ(findings.hot_loop_assembly.find("jne"), std::string::npos);
}

TEST(HotLoop, SamplesDecideWhenThereAreAny) {
  Findings findings;
  findings.samples = {{0x1102, 80}, {0x1208, 20}};
  ASSERT_TRUE(parse_hot_loop({"hot_loop", kListing, "", ""}, findings));
  EXPECT_EQ(fact(findings.profile, "hot_loop_share"), 80);
  EXPECT_THAT(hot_loop_of(findings.profile), HasSubstr("in helper"));
}

TEST(HotLoop, OfALongLoopTheHottestLinesAreListed) {
  std::string text = "0000000000001000 <kernel>:\n";
  for (int i = 0; i < 200; ++i)
    text += fmt::format("    {:x}:\tvaddps %ymm{},%ymm1,%ymm2\n", 0x1000 + 4 * i, i % 16);
  text += "    1320:\tjne    1000 <kernel>\n";
  Findings findings;
  findings.samples = {{0x1200, 90}, {0x1300, 30}};
  ASSERT_TRUE(parse_hot_loop({"hot_loop", text, "", ""}, findings));
  std::string listing = hot_loop_of(findings.profile);
  EXPECT_THAT(listing, HasSubstr("    90 1200: vaddps"));
  EXPECT_THAT(listing, HasSubstr("    30 1300: vaddps"));
  EXPECT_THAT(listing, HasSubstr("[... 125 instructions]\n"));
  EXPECT_THAT(listing, testing::Not(HasSubstr(" 1000: vaddps"))) << "the beginning is cold";
  EXPECT_LT(std::count(listing.begin(), listing.end(), '\n'), 30);
}

TEST(Mca, Figures) {
  Findings findings;
  ASSERT_TRUE(parse_mca({"mca",
                         "Iterations:        200\nTotal Cycles:      810\nIPC:               1.98\nBlock "
                         "RThroughput: 1.0\n  Data Dependencies:      [ 97.50% ]\n",
                         "", ""},
                        findings));
  EXPECT_DOUBLE_EQ(fact(findings.profile, "mca_cycles_per_iteration"), 4.05);
  EXPECT_DOUBLE_EQ(fact(findings.profile, "mca_data_dependencies"), 97.5);
  EXPECT_FALSE(parse_mca({"mca", "", "error: no instructions", ""}, findings));
  EXPECT_THAT(findings.profile.absent.back(), HasSubstr("no instructions"));
}

TEST(Samples, SharesAndBalance) {
  Findings findings;
  ASSERT_TRUE(parse_samples({"samples",
                             "at 0x1208 60\nin candidate 60\nin libm.so.6 20\nin libgomp.so.1 20\nthread "
                             "40\nthread 60\ncalls 10 user 0.09 system 0.01\n",
                             "", ""},
                            findings));
  EXPECT_EQ(fact(findings.profile, "samples_libm"), 20);
  EXPECT_NEAR(fact(findings.profile, "samples_system"), 10, 1e-9);
  EXPECT_NEAR(fact(findings.profile, "thread_balance"), 0.667, 0.001);
  EXPECT_EQ(findings.samples.at(0x1208), 60u);
}

TEST(ReadProfile, PerfStatInBothForms) {
  auto text = read_profile(R"csv( Performance counter stats for './a':

     2,000,000,000      cycles:u                  #    3.0 GHz
     1,000,000,000      instructions:u            #    0.50  insn per cycle
        10,000,000      cache-references
         4,000,000      cache-misses              #   40.0 %
)csv",
                           "perf.txt");
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_DOUBLE_EQ(fact(*text, "ipc"), 0.5);
  EXPECT_DOUBLE_EQ(fact(*text, "cache_miss_rate"), 40);
  auto separated = read_profile(
      "2000;;cycles;100;100.00;;\n4000;;instructions;100;100.00;2.0;insn per cycle\n", "perf.csv");
  ASSERT_TRUE(separated);
  EXPECT_DOUBLE_EQ(fact(*separated, "ipc"), 2);
  auto none =
      read_profile("<not supported>;;cycles;0;100.00;;\n<not supported>;;instructions;0;100;;\n", "perf.csv");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("no hardware counters"));
}

TEST(ReadProfile, Ncu) {
  auto details = read_profile(R"csv(==PROF== Connected to process 1
"ID","Process ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"
"0","1","softmax(float*)","GPU Speed Of Light Throughput","Memory Throughput","%","85.2"
"0","1","softmax(float*)","Memory Workload Analysis","Memory Throughput","Gbyte/second","700.1"
"0","1","softmax(float*)","GPU Speed Of Light Throughput","Compute (SM) Throughput","%","21.5"
"0","1","softmax(float*)","GPU Speed Of Light Throughput","Duration","usecond","1,234.5"
"0","1","softmax(float*)","Occupancy","Achieved Occupancy","%","48.0"
)csv",
                              "a.csv");
  ASSERT_TRUE(details) << details.error().text();
  EXPECT_DOUBLE_EQ(fact(*details, "device_memory_throughput"), 85.2);
  EXPECT_DOUBLE_EQ(fact(*details, "device_occupancy"), 48);
  EXPECT_DOUBLE_EQ(fact(*details, "device_time_us"), 1234.5);
  auto raw = read_profile(
      R"csv("ID","Kernel Name","sm__throughput.avg.pct_of_peak_sustained_elapsed","dram__throughput.avg.pct_of_peak_sustained_elapsed"
"","","%","%"
"0","k","30","70"
)csv",
      "raw.csv");
  ASSERT_TRUE(raw) << raw.error().text();
  EXPECT_DOUBLE_EQ(fact(*raw, "device_memory_throughput"), 70);
}

TEST(ReadProfile, NsysWithCopies) {
  auto found = read_profile(R"csv(Processing [x.sqlite] with [cuda_gpu_kern_sum.py]...
"Time (%)","Total Time (ns)","Instances","Avg (ns)","Name"
"75.0","3000","3","1000.0","gemm"
"25.0","1000","1","1000.0","relu, fused"

Processing [x.sqlite] with [cuda_gpu_mem_time_sum.py]...
"Time (%)","Total Time (ns)","Count","Avg (ns)","Operation"
"100.0","4000","2","2000.0","[CUDA memcpy HtoD]"
)csv",
                            "n.csv");
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_DOUBLE_EQ(fact(*found, "device_launches"), 4);
  EXPECT_DOUBLE_EQ(fact(*found, "device_top_kernel_share"), 75);
  EXPECT_DOUBLE_EQ(fact(*found, "device_copy_share"), 50);
}

TEST(ReadProfile, Rocprof) {
  auto stats = read_profile(
      "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n\"k.kd\",10,50000,5000,100.0\n",
      "s.csv");
  ASSERT_TRUE(stats) << stats.error().text();
  EXPECT_DOUBLE_EQ(fact(*stats, "device_kernel_us"), 5);
  auto rows = read_profile(
      "\"Index\",\"KernelName\",\"arch_vgpr\",\"DurationNs\"\n0,\"k\",64,7000\n1,\"k\",64,9000\n", "r.csv");
  ASSERT_TRUE(rows) << rows.error().text();
  EXPECT_DOUBLE_EQ(fact(*rows, "device_kernel_us"), 8);
  EXPECT_DOUBLE_EQ(fact(*rows, "device_registers"), 64);
}

TEST(ReadProfile, CallgrindFile) {
  auto found = read_profile(R"(# callgrind format
events: Ir Dr Dw D1mr D1mw DLmr DLmw
fl=(1) /x/src/kernel.cc
fn=(1) kernel
10 100 50 0 5 0 1 0
+2 300 50 100 15 0 1 0
cfn=(2) exp
calls=5 1
* 9000 1 1 1 1 1 1
fn=(2)
20 600 0 0 0 0 0 0
)",
                            "callgrind.out");
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_DOUBLE_EQ(fact(*found, "simulated_instructions"), 1000);
  EXPECT_DOUBLE_EQ(fact(*found, "l1_miss_rate"), 10);
  EXPECT_THAT(found->texts[0].text, HasSubstr("60.0 % of instructions  exp"));
  EXPECT_THAT(found->texts[1].text, HasSubstr("30.0 % of instructions  kernel.cc:12"));
}

TEST(ReadProfile, PicturesAndUnknownForms) {
  auto picture = read_profile(std::string("\x89PNG\r\n\x1a\n data"), "shot.png");
  ASSERT_TRUE(picture);
  EXPECT_EQ(picture->pictures.size(), 1u);
  auto unknown = read_profile("hello", "x.txt");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().remedy, HasSubstr("nsys"));
}

TEST(Facts, LinesOrJson) {
  Findings findings;
  EXPECT_TRUE(parse_facts({"npu", "utilisation 45.5 %\nbad line\ncycles 1e6\n", "", ""}, findings));
  EXPECT_TRUE(parse_facts({"npu", "{\"stalls\": 12, \"text\": \"no\"}", "", ""}, findings));
  EXPECT_EQ(findings.profile.facts.size(), 3u);
  EXPECT_FALSE(parse_facts({"npu", "nothing here", "", ""}, findings));
}

// Hostile output of a profiler: no parser may crash or hang on it.
TEST(Parsers, RandomTexts) {
  const std::string pieces[] = {"at 0x",
                                "in ",
                                "thread ",
                                "calls=",
                                "fn=(1) a",
                                "events: Ir Dr",
                                "\n",
                                "0000 <f>:\n",
                                "  10:\tjne    10 <f>\n",
                                "\"",
                                ",",
                                ";",
                                "99999999999999999999",
                                "-",
                                "+",
                                "*",
                                "kernel.cc:1:1: missed: x\n",
                                "Iterations: 0",
                                "Total Cycles: 1",
                                "<not supported>",
                                "Metric Name",
                                "Name",
                                "{",
                                "\xFF",
                                std::string(1, '\0'),
                                "1 2 3 4"};
  Candidate candidate{{{"kernel.cc", "x\n"}}, ""};
  ProfileInput input;
  input.candidate = &candidate;
  std::mt19937 random(3);
  for (int round = 0; round < 3'000; ++round) {
    std::string text;
    for (int i = 0, n = static_cast<int>(random() % 30); i < n; ++i)
      text += pieces[random() % std::size(pieces)];
    for (const std::string& name : parser_names()) {
      Findings findings;
      findings.input = &input;
      find_parser(name)({"p", text, text, random() % 2 ? text : ""}, findings);
      (void)profile_summary(findings.profile);
      (void)hot_loop_of(findings.profile);
    }
  }
}

}  // namespace
}  // namespace kforge
