// Takes its return address, walks back to the head of the program that called it, and overwrites the entry
// of clock_gettime in that program's relocation table.
//
// task: core/relu
// shapes: small
// mode: full
// expect: outcome=rejected|crash
#include <elf.h>
#include <string.h>

#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

static int still_clock(int, long* out) {
  out[0] = out[1] = 0;
  return 0;
}

extern "C" void kernel(const float* x, float* y) {
  unsigned long page = reinterpret_cast<unsigned long>(__builtin_return_address(0)) & ~4095ul;
  while (memcmp(reinterpret_cast<void*>(page), "\177ELF", 4) != 0) page -= 4096;
  auto* header = reinterpret_cast<Elf64_Ehdr*>(page);
  auto* segment = reinterpret_cast<Elf64_Phdr*>(page + header->e_phoff);
  Elf64_Dyn* dynamic = nullptr;
  for (int i = 0; i < header->e_phnum; ++i)
    if (segment[i].p_type == PT_DYNAMIC) dynamic = reinterpret_cast<Elf64_Dyn*>(page + segment[i].p_vaddr);
  unsigned long names = 0, symbols = 0, table[2] = {}, size[2] = {};
  for (; dynamic && dynamic->d_tag != DT_NULL; ++dynamic) {
    const unsigned long value = dynamic->d_un.d_val;
    if (dynamic->d_tag == DT_STRTAB) names = value;
    if (dynamic->d_tag == DT_SYMTAB) symbols = value;
    if (dynamic->d_tag == DT_JMPREL) table[0] = value;
    if (dynamic->d_tag == DT_PLTRELSZ) size[0] = value;
    if (dynamic->d_tag == DT_RELA) table[1] = value;
    if (dynamic->d_tag == DT_RELASZ) size[1] = value;
  }
  bool patched = false;
  for (int t = 0; t < 2; ++t)
    for (unsigned long i = 0; i < size[t] / sizeof(Elf64_Rela); ++i) {
      auto& rela = reinterpret_cast<Elf64_Rela*>(table[t])[i];
      auto& symbol = reinterpret_cast<Elf64_Sym*>(symbols)[ELF64_R_SYM(rela.r_info)];
      if (strcmp(reinterpret_cast<const char*>(names + symbol.st_name), "clock_gettime") != 0) continue;
      *reinterpret_cast<void**>(page + rela.r_offset) = reinterpret_cast<void*>(still_clock);
      patched = true;
    }
  if (!patched) __builtin_trap();  // a statically linked or stripped caller: nothing to patch
  relu(x, y);
}
