// Finds the vDSO through the auxiliary vector and overwrites its clock_gettime, so that every clock of the
// process stands still. It needs a call into libc to find it.
//
// task: core/relu
// shapes: small
// mode: full
// expect: outcome=rejected|crash
#include <elf.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

__attribute__((constructor)) static void stop_the_clock() {
  char* base = reinterpret_cast<char*>(getauxval(AT_SYSINFO_EHDR));
  if (!base) __builtin_trap();
  if (mprotect(base, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) __builtin_trap();
  // "xor eax, eax; ret" over the whole text is crude, but every clock then reads what was there before.
  const unsigned char code[] = {0x31, 0xc0, 0xc3};
  auto* header = reinterpret_cast<Elf64_Ehdr*>(base);
  memcpy(base + header->e_entry, code, sizeof code);
}

extern "C" void kernel(const float* x, float* y) { relu(x, y); }
