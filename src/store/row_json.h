// Lines of lists as `kforge results --json` and the live page give them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "store/store.h"

namespace kforge {

nlohmann::ordered_json to_json(const ResultRow& row);

}  // namespace kforge
