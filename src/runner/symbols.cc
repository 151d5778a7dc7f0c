// Looks through a library's dynamic symbols: for a function that was meant to be found but has C++ linkage,
// and for what it takes from others.
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "runner/runner_state.h"

namespace kforge::runner {
namespace {

// The first symbol that `wanted` takes, by name; null when there is none.
template <class Wanted>
const char* find_symbol(void* library, Wanted wanted) {
  auto* map = static_cast<link_map*>(library);  // what dlopen's handle is in glibc
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  size_t string_bytes = 0;
  // On most machines the loader has made addresses of what the file says; RISC-V's leaves them as they are.
  auto address = [&](ElfW(Addr) said) { return said < map->l_addr ? map->l_addr + said : said; };
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(address(entry->d_un.d_ptr));
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(address(entry->d_un.d_ptr));
    if (entry->d_tag == DT_STRSZ) string_bytes = entry->d_un.d_val;
  }
  const char* end = reinterpret_cast<const char*>(symbols);
  if (!symbols || !strings || strings <= end) return nullptr;
  // Linkers write the names right after the symbols; there is no other count.
  size_t count = static_cast<size_t>(strings - end) / sizeof *symbols;
  for (size_t i = 0; i < count; ++i) {
    if (symbols[i].st_name >= string_bytes) continue;
    const char* text = strings + symbols[i].st_name;
    if (wanted(text, symbols[i].st_shndx != SHN_UNDEF)) return text;
  }
  return nullptr;
}

bool starts_with(const char* text, const char* prefix) { return !strncmp(text, prefix, strlen(prefix)); }

}  // namespace

const char* mangled_variant(void* library, const char* name) {
  char prefix[64];
  snprintf(prefix, sizeof prefix, "_Z%zu%s", strlen(name), name);
  return find_symbol(library,
                     [&](const char* text, bool defined) { return defined && starts_with(text, prefix); });
}

bool starts_threads(void* library) {
  return find_symbol(library, [](const char* text, bool defined) {
    return !defined && (!strcmp(text, "pthread_create") || !strcmp(text, "thrd_create") ||
                        starts_with(text, "_ZNSt6thread15_M_start_thread"));
  });
}

}  // namespace kforge::runner
