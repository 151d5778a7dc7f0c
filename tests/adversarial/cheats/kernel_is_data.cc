// The symbol `kernel` is an array of bytes, not a function.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=crash|rejected|no_program|compile_error
extern "C" const unsigned char kernel[] = {0xc3, 0xc3, 0xc3, 0xc3};
