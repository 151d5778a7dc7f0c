// A "cubin" of the fake driver: a shared library that has `fake_module`.
#pragma once

#include "kforge/program_api.h"

struct FakeKernel {
  const char* name;
  KfeThunk thunk;
  unsigned parameters;
  const unsigned char* sizes;  // of the parameters, in bytes
};

struct FakeModule {
  const FakeKernel* kernels;
  unsigned count;
  void (*launch)(const KfeStep* step);
};
