#include "forge/option_fields.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

TEST(OptionFields, ComeBack) {
  ForgeOptions o;
  o.session.task = "core/relu";
  o.session.sandbox = SandboxTier::kLandlock;
  o.session.baselines = {"none"};
  o.generators = {"mailbox:x", "builtin"};
  o.budget = *parse_budget("60s,2usd");
  o.target = 2;
  o.without = {"example"};
  o.out = "somewhere";
  o.timing_seconds = 3;
  o.check_only = true;
  auto read = options_from(to_options(o));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->session.task, "core/relu");
  EXPECT_EQ(read->session.sandbox, SandboxTier::kLandlock);
  EXPECT_EQ(read->session.baselines, o.session.baselines);
  EXPECT_EQ(read->generators, o.generators);
  EXPECT_EQ(read->budget.seconds, 60);
  EXPECT_EQ(read->target, 2);
  EXPECT_EQ(read->without, o.without);
  EXPECT_EQ(read->out, "somewhere");
  EXPECT_EQ(read->timing_seconds, 3);
  EXPECT_TRUE(read->check_only);
  EXPECT_EQ(to_options(*read), to_options(o)) << "every one of them";
}

TEST(OptionFields, WhatIsMissingIsNamed) {
  OptionMap map = to_options({});
  map.erase("strategy");
  auto read = options_from(map);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("strategy"), std::string::npos);
  map = to_options({});
  map["width"] = std::string("wide");
  EXPECT_FALSE(options_from(map));
}

}  // namespace
}  // namespace kforge
