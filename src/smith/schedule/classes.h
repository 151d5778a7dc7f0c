// Which loops of different stages belong together, and along which one a stage's vectors lie.
#pragma once

#include <map>
#include <set>
#include <string>

#include "smith/graph/program.h"

namespace kforge::smith {

// Variables of different stages that run along the same dimension of a tensor: one that passes between them,
// or one that both read. Two variables of one stage are never the same.
class Classes {
 public:
  explicit Classes(const Program& program);
  std::string of(const std::string& variable);

 private:
  void unite(const std::string& a, const std::string& b);

  std::map<std::string, std::string> parent_;
  std::map<std::string, std::set<int>> stages_;  // that have a variable of the class
};

// The variable a stage's vectors lie along: the one that runs along memory in most of what it reads.
Expr vector_variable(const Stage& stage);

}  // namespace kforge::smith
