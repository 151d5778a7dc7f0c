// Gate "symbols": what a native artefact defines and imports, read from the ELF file by trusted code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/failure.h"
#include "base/result.h"

namespace kforge {

// The number by which ELF files name a machine ("aarch64"; "": this one); 0 for one that is not known here:
// then every machine is taken.
std::uint16_t elf_machine(std::string_view name = "");

struct DefinedSymbol {
  std::string name;
  bool is_function = false;  // else data
  bool is_weak = false;      // template instances and inline functions of the standard library are
};

struct DynamicSymbols {
  std::vector<std::string> imports, exports, needed;  // needed: DT_NEEDED libraries
  std::vector<DefinedSymbol> definitions;             // of exports, with their kind
  std::uint64_t memory_bytes = 0;                     // that loading it takes: code, data and static memory
  // Allowed, since they run inside the sandbox, but worth a record:
  std::size_t initialisers = 0;  // functions the loader calls before anything else
  std::size_t resolvers = 0;     // functions that choose another one while loading (ifunc)
};

// Reads what the loader would read (the dynamic segment, not the sections). Any file is accepted as hostile:
// a malformed one, or one that asks for more than a kernel needs (run paths, an executable stack, relocations
// in code), is a Rejected, never a crash.
Step<DynamicSymbols> read_dynamic_symbols(const std::filesystem::path& artefact,
                                          std::uint16_t machine = elf_machine());
Step<DynamicSymbols> read_dynamic_symbols(std::span<const std::byte> file,
                                          std::uint16_t machine = elf_machine());

// Rejected (gate "symbols") when it defines a function or variable of libc, libm, libgomp or the loader, an
// operator new or delete, or (unless weak) a function of libstdc++; when it imports a name that matches none
// of the patterns (platform/glob.h); or when it names a library outside allowed_needed (no pattern: not
// looked at). The system's names are those of the libraries for `machine` ("": this one), where it has any
// here.
std::optional<Rejected> check_symbols(const DynamicSymbols& symbols,
                                      const std::vector<std::string>& allowed_imports,
                                      const std::vector<std::string>& allowed_needed = {},
                                      std::string_view machine = "");

}  // namespace kforge
