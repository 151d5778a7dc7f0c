// A schedule: decisions on stages and the list of transformations, as JSON that is stored with the program.
//   {"smith": 1, "steps": [{"do": "split", "on": ["d"], "by": 1024}, ...], "contractions": {...}}
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "smith/schedule/transform.h"

namespace kforge::smith {

struct Schedule {
  std::vector<Step> steps;
  std::map<std::string, std::string> contractions;  // by tensor: JSON of contract/'s own schedule
};

std::string to_json(const Schedule& schedule);
Result<Schedule> schedule_from_json(std::string_view json);

// The analytic guess for the loop nests of a program, and one line per decision.
struct Guess {
  std::vector<Step> steps;
  std::vector<std::string> reasons;
};
Guess first_steps(const Program& program, const Nest& nest, const Machine& machine, int threads);

// Legal variations of a list of steps, with what each may gain.
struct Variation {
  std::string name, tag, why;
  std::vector<Step> steps;
};
std::vector<Variation> variations(const Nest& nest, const std::vector<Step>& steps, const Machine& machine,
                                  int threads);

}  // namespace kforge::smith
