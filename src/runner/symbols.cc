// Looks through a library's dynamic symbols for a function that was meant to be found but has C++ linkage.
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "runner/session.h"

namespace kforge::runner {

const char* mangled_variant(void* library, const char* name) {
  auto* map = static_cast<link_map*>(library);  // what dlopen's handle is in glibc
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  size_t string_bytes = 0;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRSZ) string_bytes = entry->d_un.d_val;
  }
  const char* end = reinterpret_cast<const char*>(symbols);
  if (!symbols || !strings || strings <= end) return nullptr;
  // Linkers write the names right after the symbols; there is no other count.
  size_t count = static_cast<size_t>(strings - end) / sizeof *symbols;
  char prefix[64];
  int length = snprintf(prefix, sizeof prefix, "_Z%zu%s", strlen(name), name);
  for (size_t i = 0; i < count; ++i) {
    if (symbols[i].st_name >= string_bytes || symbols[i].st_shndx == SHN_UNDEF) continue;
    const char* text = strings + symbols[i].st_name;
    if (!strncmp(text, prefix, static_cast<size_t>(length))) return text;
  }
  return nullptr;
}

}  // namespace kforge::runner
