#pragma once

#include <optional>
#include <string>

#include "base/interval.h"

namespace kforge {

struct NamedTime {
  std::string name;  // a baseline ("onednn"), or an operator with its node ("MatMul (scores)")
  double ns = 0;
  std::optional<Interval> interval = {};  // 95 %, where it is known
};

}  // namespace kforge
