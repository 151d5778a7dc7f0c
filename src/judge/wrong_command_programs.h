// Programs for `kforge platforms check` on command platforms. They are in the platform's own language, so its
// folder brings them: check/, one file each, beside example/.
#pragma once

#include "judge/wrong_programs.h"

namespace kforge {

// Those that must fail: their first comment says what they are, the line "expect: outcome=... gate=..." what
// must become of them. An Error: there are none.
Result<std::vector<WrongProgram>> wrong_command_programs(const Platform& platform);

// check/twice.*: the example with its work done twice in every call. An Error: it is not there.
Result<Candidate> twice_command_example(const Platform& platform);

}  // namespace kforge
