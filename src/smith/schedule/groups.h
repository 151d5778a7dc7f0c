// Which stages share their outer loops: those that pass rows to each other, or read the same rows.
#pragma once

#include <string>
#include <vector>

#include "smith/schedule/classes.h"

namespace kforge::smith {

struct Group {
  std::vector<const Stage*> stages;
  std::vector<std::string> common;  // classes, outermost first
};

// Neighbouring stages of the program, in its order.
std::vector<Group> groups_of(const Program& program, Classes& classes, int threads);
// Iterations of the loop of a class.
std::int64_t extent_of(const Group& group, Classes& classes, const std::string& name);
bool contains(const std::vector<std::string>& list, const std::string& name);

}  // namespace kforge::smith
