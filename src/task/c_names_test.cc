#include "task/c_names.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

TEST(CNames, Rule) {
  std::set<std::string> taken;
  EXPECT_EQ(make_c_name("x", taken), "x");
  EXPECT_EQ(make_c_name("layer.0/weight:0", taken), "layer_0_weight_0");
  EXPECT_EQ(make_c_name("0", taken), "t0");
  EXPECT_EQ(make_c_name("_x", taken), "t_x");
  EXPECT_EQ(make_c_name("int", taken), "int_");
  EXPECT_EQ(make_c_name("kernel", taken), "kernel_");
  EXPECT_EQ(make_c_name("x", taken), "x_2");
  EXPECT_EQ(make_c_name("x", taken), "x_3");
  EXPECT_EQ(make_c_name("", taken), "t");
  EXPECT_EQ(make_c_name("\xc3\xa4", taken), "t__");
}

}  // namespace
}  // namespace kforge
