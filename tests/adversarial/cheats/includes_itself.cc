// Includes itself twice, without end.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=compile_error|timeout
#include __FILE__
#include __FILE__
