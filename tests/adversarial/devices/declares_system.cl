// Declares a function of the C library, which a driver on this processor would find, and calls it.
// task: core/relu
// on: opencl
// expect: outcome=compile_error leaves=/tmp/kforge_device_system
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
int system(constant const char* command);
kernel void k(global const float* x, global float* y) {
  const int i = get_global_id(0);
  if (i < B * D) y[i] = fmax(x[i], 0.0f);
  if (i == 0) system("touch /tmp/kforge_device_system");
}
