// Every access of the candidate's code, before it is made.
#pragma once

#include <stdint.h>

namespace kfe::check {

// `pc`: the return address of the callback. Does not return where the access may not be made.
void access(uintptr_t address, uint64_t size, bool write, bool atomic, uintptr_t pc);
// Shared memory that an asynchronous copy will fill (delta 1), or has filled (-1).
void pending(uintptr_t address, uint64_t size, int delta, uintptr_t pc);
// An index outside of an array of the thread's own, as the compiler's bounds check saw it.
[[noreturn]] void bad_index(const char* file, uint32_t line, int64_t index);

}  // namespace kfe::check
