// What a cost model went by, a line for each kernel: "softmax_rows: modelled 4.1 us, occupancy (threads) 100
// %, ...".
#pragma once

#include <string>
#include <vector>

#include "store/eval_report.h"

namespace kforge {

// Of the first shape; `all`: also what is seldom asked for. Text of the program's is not made harmless yet.
std::vector<std::string> model_input_lines(const EvalReport& report, bool all);

}  // namespace kforge
