// The same without any import: the map of the process read by raw system calls at load time, the page made
// writable, clock_gettime replaced. Where it is refused, it gives up loudly.
//
// task: core/relu
// shapes: small
// mode: full
// expect: outcome=rejected|crash
#include <elf.h>
#include <string.h>
#include <sys/syscall.h>

#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

// The kernel's own door to the system: no symbol to see, only an instruction.
static long raw(long n, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
               : "rcx", "r11", "memory");
  return result;
}

static long vdso_base() {
  static long auxv[128];
  const long fd = raw(SYS_open, reinterpret_cast<long>("/proc/self/auxv"));
  if (fd < 0) return 0;
  const long bytes = raw(SYS_read, fd, reinterpret_cast<long>(auxv), sizeof auxv);
  raw(SYS_close, fd);
  for (long i = 0; i + 1 < bytes / 8; i += 2)
    if (auxv[i] == 33) return auxv[i + 1];
  return 0;
}

static bool patched;

__attribute__((constructor)) static void stop_the_clock() {
  const long base = vdso_base();
  if (!base) return;
  auto* header = reinterpret_cast<Elf64_Ehdr*>(base);
  auto* segment = reinterpret_cast<Elf64_Phdr*>(base + header->e_phoff);
  Elf64_Dyn* dynamic = nullptr;
  for (int i = 0; i < header->e_phnum; ++i)
    if (segment[i].p_type == PT_DYNAMIC) dynamic = reinterpret_cast<Elf64_Dyn*>(base + segment[i].p_offset);
  if (!dynamic) return;
  Elf64_Sym* symbols = nullptr;
  const char* names = nullptr;
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag == DT_SYMTAB) symbols = reinterpret_cast<Elf64_Sym*>(base + dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(base + dynamic->d_un.d_ptr);
  }
  if (!symbols || !names) return;
  if (raw(SYS_mprotect, base, 8192, 7) != 0) return;
  for (int i = 1; i < 32; ++i) {
    if (strcmp(names + symbols[i].st_name, "__vdso_clock_gettime") != 0) continue;
    // *rsi = {0, 0}; return 0: a clock that stands still
    const unsigned char code[] = {0x31, 0xc0, 0x48, 0x89, 0x06, 0x48, 0x89, 0x46, 0x08, 0xc3};
    memcpy(reinterpret_cast<void*>(base + symbols[i].st_value), code, sizeof code);
    patched = true;
    return;
  }
}

extern "C" void kernel(const float* x, float* y) {
  if (!patched) __builtin_trap();
  relu(x, y);
}
