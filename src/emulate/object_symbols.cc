#include "emulate/object_symbols.h"

#include <elf.h>

#include <cstring>

#include "platform/glob.h"

namespace kforge::emulate {
namespace {

// What device_api.h declares, mathematics, and what compilers call behind the source's back.
const std::vector<std::string> kAllowed = {"kfe_thread_index",
                                           "kfe_block_index",
                                           "kfe_block_size",
                                           "kfe_grid_size",
                                           "kfe_full_block",
                                           "kfe_grid_threads",
                                           "kfe_thread_number",
                                           "kfe_shared_arena",
                                           "kfe_dynamic_shared",
                                           "kfe_patience",
                                           "kfe_place",
                                           "kfe_barrier",
                                           "kfe_barrier_vote",
                                           "kfe_meet",
                                           "kfe_live_lanes",
                                           "kfe_absent_lane",
                                           "kfe_yield",
                                           "kfe_fence",
                                           "kfe_fence_block",
                                           "kfe_copy_async",
                                           "kfe_copy_commit",
                                           "kfe_copy_wait",
                                           "kfe_copy_wait_all",
                                           "kfe_clock",
                                           "kfe_trap",
                                           "acos*",
                                           "asin*",
                                           "atan*",
                                           "cbrt*",
                                           "ceil*",
                                           "copysign*",
                                           "cos*",
                                           "erf*",
                                           "exp*",
                                           "fabs*",
                                           "fdim*",
                                           "floor*",
                                           "fma*",
                                           "fmin*",
                                           "fmod*",
                                           "hypot*",
                                           "ilogb*",
                                           "ldexp*",
                                           "lgamma*",
                                           "log*",
                                           "lrint*",
                                           "llrint*",
                                           "lround*",
                                           "llround*",
                                           "nearbyint*",
                                           "nextafter*",
                                           "pow*",
                                           "remainder*",
                                           "rint*",
                                           "round*",
                                           "scalbn*",
                                           "sin*",
                                           "sqrt*",
                                           "tan*",
                                           "tgamma*",
                                           "trunc*",
                                           "j0*",
                                           "j1*",
                                           "y0*",
                                           "y1*",
                                           "abs",
                                           "labs",
                                           "llabs",
                                           "!exp*_r",
                                           "!lgamma*_r",
                                           "!sincos*",
                                           "__extend*f2",
                                           "__trunc*f2",
                                           "__float*f",
                                           "__fix*",
                                           "__mul*3",
                                           "__div*3",
                                           "__udiv*3",
                                           "__mod*3",
                                           "__umod*3",
                                           "__powi*f2",
                                           "__popcount*",
                                           "_GLOBAL_OFFSET_TABLE_",
                                           "__stack_chk_fail",
                                           "__tls_get_addr"};
// Copies by the compiler; in the variants that check they are functions that look first.
const std::vector<std::string> kPlain = {"memcpy", "memmove", "memset", "memcmp", "bcmp"};
const std::vector<std::string> kChecking = {"__tsan_*", "__ubsan_handle_*", "__sanitizer_cov_trace_pc",
                                            "memcmp", "bcmp"};

template <class T>
bool read_at(std::string_view file, std::uint64_t at, T& out) {
  if (at > file.size() || file.size() - at < sizeof(T)) return false;
  std::memcpy(&out, file.data() + at, sizeof(T));
  return true;
}

std::string shown(std::string_view name) {
  std::string text(name.substr(0, 120));
  for (char& c : text)
    if (c < 0x20 || c > 0x7e) c = '?';
  return text;
}

}  // namespace

std::optional<std::vector<std::string>> undefined_symbols(std::string_view object) {
  Elf64_Ehdr head;
  if (!read_at(object, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_type != ET_REL || head.e_shentsize != sizeof(Elf64_Shdr))
    return std::nullopt;
  std::vector<std::string> names;
  bool found = false;
  for (unsigned i = 0; i < head.e_shnum; ++i) {
    Elf64_Shdr section, strings;
    if (!read_at(object, head.e_shoff + std::uint64_t{i} * sizeof section, section)) return std::nullopt;
    if (section.sh_type != SHT_SYMTAB) continue;
    found = true;
    if (!read_at(object, head.e_shoff + std::uint64_t{section.sh_link} * sizeof strings, strings))
      return std::nullopt;
    if (strings.sh_offset > object.size() || object.size() - strings.sh_offset < strings.sh_size)
      return std::nullopt;
    const std::string_view text = object.substr(strings.sh_offset, strings.sh_size);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!read_at(object, section.sh_offset + at, symbol) || symbol.st_name >= text.size())
        return std::nullopt;
      const std::string_view name =
          text.substr(symbol.st_name, text.find('\0', symbol.st_name) - symbol.st_name);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC) names.push_back("ifunc " + std::string(name));
      if (symbol.st_shndx == SHN_UNDEF && !name.empty()) names.emplace_back(name);
    }
  }
  if (!found) return std::nullopt;
  return names;
}

std::optional<Rejected> check_object(std::string_view object, bool checking) {
  const auto names = undefined_symbols(object);
  if (!names) return Rejected{Gate::kSymbols, "the compiled object is malformed"};
  for (const std::string& name : *names)
    if (!listed(kAllowed, name) && !listed(checking ? kChecking : kPlain, name))
      return Rejected{Gate::kSymbols,
                      "the device code calls " + shown(name) + ", which is no function of the device"};
  return std::nullopt;
}

}  // namespace kforge::emulate
