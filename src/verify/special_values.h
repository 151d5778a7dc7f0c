// NaN, infinities, denormals and -0 among the inputs. What a program should make of them is less certain than
// what it should make of numbers: a comparison with NaN may be written either way, an exponential may be cut
// off before it overflows, denormals may be flushed, and algorithms differ in how far one value gets. So the
// graph says what is asked:
//   element by element    each result is compared with every reading of the values that a careful program may
//                         have, and is wrong where it agrees with none; all special values
//   sums and quotients    no infinities. A NaN comes out of everything it goes into, whatever the order, and
//                         every other result is as if there were none
//   products, windows     matrices, convolutions, mean pools: as sums, but fast algorithms (Strassen,
//   Winograd,
//                         running sums) may spread NaN to other results
// An operator that compares (Relu, Softmax) may swallow a NaN: right behind it every reading counts; where
// more is computed from its result, and behind a maximum of several elements (what a NaN leaves of it depends
// on the order), only what no special value reaches is judged. Other graphs are not. Inputs of 16 bits: as
// float32, but float16, whose range holds no huge number, only where no reading needs one.
#pragma once

#include "execute/program_process.h"
#include "verify/verdict.h"

namespace kforge {

// Whether the task is of these sorts.
bool judges_special_values(const BoundTask& task);

struct SpecialFinding {
  bool judged = false;  // not where the oracle would take too long
  std::optional<Failure> failure;
};

// A call in slot 0 for each input that can hold them; what failed, if the program itself did not. REQUIRES:
// judges_special_values().
Result<SpecialFinding> judge_special_values(const JudgeContext& context, const InputMemory& memory,
                                            ProgramProcess& process, Verdict& verdict);

}  // namespace kforge
