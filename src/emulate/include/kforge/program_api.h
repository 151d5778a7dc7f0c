// A plan as tables, for the runtime: what the generated half of a program hands over
// (src/emulate/contract.cc). Trusted code only; a candidate's object cannot name these.
#pragma once

#include "device_api.h"

typedef void (*KfeThunk)(const KfeArgument* arguments);

struct KfeMemory {
  const char* name;
  kfe_u64 bytes;
  kfe_u32 element;   // bytes of one
  kfe_u32 tensor;    // 1: given by the caller; 0: the plan's own
  kfe_u32 prepared;  // 1: lives from prepare to prepare
};

struct KfePlanArgument {
  kfe_i32 memory;  // index, or -1: a scalar
  kfe_u32 wide;    // of a scalar: it is `real`
  kfe_i64 value;   // offset in bytes, or the integer
  float real;
};

struct KfeStep {
  enum Kind : kfe_u32 { kLaunch, kFill, kCopy } kind;
  const char* name;  // of the kernel
  KfeThunk thunk;
  KfeIndex grid, block, threads;  // threads: of the whole grid, 0: whole blocks
  kfe_u64 shared_bytes;
  const KfePlanArgument* arguments;
  kfe_u32 count;         // of arguments
  kfe_u32 memory, from;  // fill, copy
  kfe_u64 bytes;         // copy
  kfe_u64 pattern;       // fill: one element
};

struct KfeProgram {
  const KfeMemory* memory;
  kfe_u32 memories;
  const KfeStep* prepare;
  kfe_u32 prepares;
  const KfeStep* run;
  kfe_u32 runs;
  kfe_u32 by_address;  // scalars, too, as Metal's setBytes does
};

extern "C" {
// `tensors`: one pointer for each tensor of the program; in kfe_prepare only those of the params are looked
// at. `report`: KFE_REPORT_BYTES for the variants that check, else null.
void kfe_run(const KfeProgram* program, void* const* tensors, void* state, void* report);
void* kfe_prepare(const KfeProgram* program, void* const* tensors);
void kfe_release(const KfeProgram* program, void* state);
}
