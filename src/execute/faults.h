// What went wrong in a program, in words that help the one who has to mend it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/failure.h"
#include "runner/protocol.h"
#include "sandbox/sandbox.h"

namespace kforge {

// The program's own report of a signal. Untrusted: used for words only; every number is checked before use.
Failure describe_fault(const KforgeFault& fault, const std::vector<std::string>& argument_names,
                       std::string_view stage, std::string_view stderr_text);

// A program that ended without a report.
Failure describe_exit(const SandboxExit& exit, std::string_view stage);

// The end of what a program printed or sent, without control characters: it goes to terminals and agents.
std::string printable_tail(std::string_view text);

}  // namespace kforge
