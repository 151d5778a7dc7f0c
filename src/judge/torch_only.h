// Answers in KernelBench's form that write no kernel of their own.
#pragma once

#include "generate/candidate.h"

namespace kforge {

// Whether nothing in the program could be a kernel: no extension is compiled, no Triton, nothing foreign is
// called. It is a word to readers of the result ("torch_only"), no judgement: fewer calls into torch may be
// faster, and are honest.
bool calls_only_torch(const Candidate& candidate);

}  // namespace kforge
