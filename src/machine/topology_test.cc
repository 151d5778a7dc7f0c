#include "machine/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/files.h"

namespace kforge {
namespace {

using testing::ElementsAre;

class TopologyTest : public testing::Test {
 protected:
  TempDir dir_ = TempDir::create().value();
  void put(const std::string& name, const std::string& content) {
    fs::create_directories((dir_.path() / name).parent_path());
    std::ofstream(dir_.path() / name) << content;
  }
};

TEST(Topology, CpuLists) {
  EXPECT_THAT(parse_cpu_list("0-2,8"), ElementsAre(0, 1, 2, 8));
  EXPECT_THAT(parse_cpu_list("5\n"), ElementsAre(5));
  EXPECT_THAT(parse_cpu_list("x,3-1,-4,7"), ElementsAre(7));
  EXPECT_LT(parse_cpu_list("0-999999999").size(), 100'000u);
}

TEST(Topology, CpuinfoFields) {
  const char* info = "processor\t: 0\nmodel\t\t: 17\nmodel name\t: Some CPU\nflags\t\t: fpu avx2\n";
  EXPECT_EQ(cpuinfo_field(info, "model name"), "Some CPU");
  EXPECT_EQ(cpuinfo_field(info, "model"), "17");
  EXPECT_EQ(cpuinfo_field(info, "flags"), "fpu avx2");
  EXPECT_EQ(cpuinfo_field(info, "nothing"), "");
}

TEST_F(TopologyTest, TheTightestQuotaOfCgroupV2) {
  put("a/b/cpu.max", "max 100000\n");
  put("a/cpu.max", "150000 100000\n");
  put("cpu.max", "400000 100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cpu_limit("0::/a/b\n", dir_.path()), 1.5);
  EXPECT_DOUBLE_EQ(cgroup_cpu_limit("0::/\n", dir_.path()), 4);
  EXPECT_DOUBLE_EQ(cgroup_cpu_limit("0::/name/of/the/host\n", dir_.path()), 4);
}

TEST_F(TopologyTest, QuotasOfCgroupV1AndNone) {
  EXPECT_DOUBLE_EQ(cgroup_cpu_limit("", dir_.path()), 0);
  EXPECT_DOUBLE_EQ(cgroup_cpu_limit("garbage\n::\n0::/x\n", dir_.path()), 0);
  put("cpu,cpuacct/box/cpu.cfs_quota_us", "250000");
  put("cpu,cpuacct/box/cpu.cfs_period_us", "100000");
  put("cpu,cpuacct/cpu.cfs_quota_us", "-1");
  put("cpu,cpuacct/cpu.cfs_period_us", "100000");
  EXPECT_DOUBLE_EQ(cgroup_cpu_limit("7:memory:/box\n4:cpu,cpuacct:/box\n", dir_.path()), 2.5);
}

TEST_F(TopologyTest, CachesOfSysfs) {
  auto cache = [&](int index, const char* level, const char* type, const char* size, const char* shared) {
    std::string folder = "cpu0/cache/index" + std::to_string(index) + "/";
    put(folder + "level", level);
    put(folder + "type", type);
    put(folder + "size", size);
    put(folder + "shared_cpu_list", shared);
  };
  cache(0, "1", "Data", "48K", "0");
  cache(1, "1", "Instruction", "32K", "0");
  cache(2, "2", "Unified", "2048K", "0-1");
  cache(3, "3", "Unified", "60M", "0-31");
  cache(4, "nonsense", "Unified", "1K", "0");
  auto caches = read_caches(dir_.path() / "cpu0");
  ASSERT_EQ(caches.size(), 3u);
  EXPECT_EQ(caches[0].bytes, 48u << 10);
  EXPECT_EQ(caches[1].shared_by, 2);
  EXPECT_EQ(caches[2].bytes, 60u << 20);
  EXPECT_EQ(caches[2].shared_by, 32);
}

TEST(Topology, ThisMachineAllowsAtLeastOneCpu) { EXPECT_FALSE(allowed_cpus().empty()); }

}  // namespace
}  // namespace kforge
