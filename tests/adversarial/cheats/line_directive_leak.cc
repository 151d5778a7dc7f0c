// Claims that its lines come from a system file; a compiler that shows the offending line reads it from
// there.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=compile_error hides=root:
#include "task.h"

#line 1 "/etc/passwd"
this is an error on the first line of that file
