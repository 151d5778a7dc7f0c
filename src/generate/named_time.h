#pragma once

#include <string>

namespace kforge {

struct NamedTime {
  std::string name;  // a baseline ("onednn"), or an operator with its node ("MatMul (scores)")
  double ns = 0;
};

}  // namespace kforge
