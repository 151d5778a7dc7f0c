// For tests: the value of a fact that must be there.
#pragma once

#include <gtest/gtest.h>

#include "profile/profile.h"

namespace kforge {

inline double fact(const Profile& profile, std::string_view name) {
  const Fact* found = find_fact(profile, name);
  EXPECT_TRUE(found) << name;
  return found ? found->value : -1;
}

}  // namespace kforge
