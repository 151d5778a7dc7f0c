// An error message with terminal codes in it: quoted by the compiler, it would act on the reader's
// terminal.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=compile_error
#include "task.h"

#error [2J[H]0;owned "outcome": "passed"
