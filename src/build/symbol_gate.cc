// The judgement on a library's symbols; reading them is symbols.cc.
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <unordered_map>

#include "base/files.h"
#include "build/symbols.h"
#include "platform/glob.h"

namespace kforge {
namespace {

// What the system's own libraries define: name -> is it a function?
using Definitions = std::unordered_map<std::string, bool>;

Definitions definitions_of(const std::vector<std::string>& libraries, const std::string& machine) {
  Definitions all;
  const std::string triple = machine + "-linux-gnu";
  for (const std::string& library : libraries) {
    for (const std::string& folder :
         {"/lib/" + triple, "/usr/lib/" + triple, "/usr/" + triple + "/lib", std::string("/lib64"),
          std::string("/usr/lib64"), std::string("/usr/lib")}) {
      // Distributions link these names to versioned files; our own reader does not follow links.
      std::error_code error;
      fs::path path = fs::canonical(fs::path(folder) / library, error);
      if (error) continue;
      auto symbols = read_dynamic_symbols(path, elf_machine(machine));
      if (!symbols || !symbols->has_value()) continue;
      for (DefinedSymbol& symbol : (**symbols).definitions)
        all.emplace(std::move(symbol.name), symbol.is_function);
      break;
    }
  }
  return all;
}

// What the system's libraries define for one machine, read once.
struct SystemNames {
  Definitions c, cxx;
};

std::string name_of_this_machine() {
  utsname system{};
  ::uname(&system);
  return system.machine;
}

const SystemNames& system_names(std::string_view machine) {
  static std::mutex mutex;
  static std::map<std::string, SystemNames> known;
  static const std::string own = name_of_this_machine();
  std::string name(machine.empty() ? own : machine);
  std::lock_guard lock(mutex);
  auto found = known.find(name);
  if (found != known.end()) return found->second;
  SystemNames names{definitions_of({"libc.so.6", "libm.so.6", "libgomp.so.1", "ld-linux-x86-64.so.2",
                                    "ld-linux-aarch64.so.1", "ld-linux-riscv64-lp64d.so.1"},
                                   name),
                    definitions_of({"libstdc++.so.6"}, name)};
  return known.emplace(std::move(name), std::move(names)).first->second;
}

// Markers that the linker puts into every library.
bool is_linker_marker(std::string_view name) {
  constexpr std::array<std::string_view, 5> kMarkers = {"_init", "_fini", "_edata", "_end", "__bss_start"};
  return std::ranges::find(kMarkers, name) != kMarkers.end();
}

// Replacing these reaches into every other library of the process. Placement new and its delete are not among
// them: they are inline functions of <new>, which an unoptimised library carries itself.
bool replaces_run_time(std::string_view name) {
  for (std::string_view placement : {"_ZnwmPv", "_ZnamPv", "_ZdlPvS_", "_ZdaPvS_"})
    if (name == placement) return false;
  for (std::string_view prefix : {"_Znw", "_Zna", "_Zdl", "_Zda", "__cxa_", "_Unwind_"})
    if (name.starts_with(prefix)) return true;
  return false;
}

// A variable that happens to be called like a function of libm (y1, gamma) hurts nobody: only a function that
// is called like a function, or data like data, can be meant to take another's place.
bool takes_the_place_of(const DefinedSymbol& symbol, const Definitions& system) {
  auto found = system.find(symbol.name);
  return found != system.end() && found->second == symbol.is_function;
}

bool is_forbidden_definition(const DefinedSymbol& symbol, const SystemNames& system) {
  if (is_linker_marker(symbol.name)) return false;
  if (symbol.is_function && replaces_run_time(symbol.name)) return true;
  if (takes_the_place_of(symbol, system.c)) return true;
  // Mangled names only can be libstdc++'s; weak ones are instances that every C++ library carries.
  return symbol.name.starts_with("_Z") && !symbol.is_weak && takes_the_place_of(symbol, system.cxx);
}

// In words, what a name is for.
std::string purpose(std::string_view name) {
  static const std::pair<const char*, const char*> kPurposes[] = {
      {"clock*", "reads a clock"},
      {"time*", "reads a clock"},
      {"gettimeofday", "reads a clock"},
      {"omp_get_wti*", "reads a clock"},
      {"_ZNSt6chrono*", "reads a clock"},
      {"dl*", "loads or searches libraries"},
      {"__libc_dl*", "loads or searches libraries"},
      {"*open*", "opens files"},
      {"read*", "reads files"},
      {"pread*", "reads files"},
      {"write*", "writes files"},
      {"pwrite*", "writes files"},
      {"fork*", "starts processes"},
      {"vfork", "starts processes"},
      {"clone*", "starts processes"},
      {"exec*", "starts processes"},
      {"posix_spawn*", "starts processes"},
      {"system", "starts processes"},
      {"popen", "starts processes"},
      {"mprotect", "changes page protection"},
      {"pkey_*", "changes page protection"},
      {"ptrace", "inspects processes"},
      {"process_vm_*", "inspects processes"},
      {"*sig*", "handles signals"},
      {"raise", "handles signals"},
      {"kill*", "sends signals"},
      {"pthread_kill", "sends signals"},
      {"_exit", "ends the process"},
      {"exit", "ends the process"},
      {"quick_exit", "ends the process"},
      {"*getenv", "reads the environment"},
      {"environ", "reads the environment"},
      {"socket*", "uses the network"},
      {"connect", "uses the network"},
      {"send*", "uses the network"},
      {"recv*", "uses the network"},
      {"*jmp*", "jumps out of the call"},
      {"prctl", "changes the process"},
      {"*rlimit*", "changes the process"},
      {"_ZNSt13basic_filebuf*", "opens files"},
      {"_ZNSt10filesystem*", "opens files"},
      {"shm*", "shares memory"},
  };
  for (const auto& [pattern, words] : kPurposes)
    if (glob_matches(pattern, name)) return fmt::format(" ({})", words);
  return "";
}

// A symbol name is the candidate's text: printable, and not endless.
std::string shown(std::string_view name) {
  std::string text(name.substr(0, 120));
  for (char& c : text)
    if (c < 0x20 || c > 0x7e) c = '?';
  return name.size() > 120 ? text + "..." : text;
}

Figures names_figures(const char* key, const std::vector<std::string>& names) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 20); ++i) list.push_back(shown(names[i]));
  return {{{key, list}, {"count", static_cast<std::int64_t>(names.size())}}};
}

}  // namespace

std::optional<Rejected> check_symbols(const DynamicSymbols& symbols,
                                      const std::vector<std::string>& allowed_imports,
                                      const std::vector<std::string>& allowed_needed,
                                      std::string_view machine) {
  const SystemNames& system = system_names(machine);
  std::vector<std::string> defined, imported, needed;
  for (const DefinedSymbol& symbol : symbols.definitions)
    if (is_forbidden_definition(symbol, system)) defined.push_back(symbol.name);
  if (!defined.empty())
    return Rejected{
        Gate::kSymbols,
        fmt::format("the program defines {}, a name of the system's libraries", shown(defined[0])),
        names_figures("defines", defined)};
  for (const std::string& name : symbols.imports)
    if (!listed(allowed_imports, name)) imported.push_back(name);
  if (!imported.empty())
    return Rejected{Gate::kSymbols,
                    fmt::format("the program calls {}{}, which is not among the names a kernel may import",
                                shown(imported[0]), purpose(imported[0])),
                    names_figures("imports", imported)};
  for (const std::string& library : symbols.needed)
    if (!allowed_needed.empty() && !listed(allowed_needed, library)) needed.push_back(library);
  if (!needed.empty())
    return Rejected{
        Gate::kSymbols,
        fmt::format("the program needs the library {}, which a kernel may not load", shown(needed[0])),
        names_figures("needs", needed)};
  return std::nullopt;
}

}  // namespace kforge
