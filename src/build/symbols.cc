#include "build/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/fd.h"

namespace kforge {
namespace {

constexpr std::size_t kLargestFile = 256 << 20;
constexpr std::size_t kMostSymbols = 1 << 20;
constexpr std::size_t kLongestName = 64 << 10;

struct MachineRow {
  const char* name;  // as uname(1) says it
  std::uint16_t number;
  std::uint32_t resolver;
};
constexpr MachineRow kMachines[] = {
    {"x86_64", EM_X86_64, R_X86_64_IRELATIVE},
    {"aarch64", EM_AARCH64, R_AARCH64_IRELATIVE},
    {"riscv64", EM_RISCV, R_RISCV_IRELATIVE},
    {"another machine", EM_NONE, 0},
};

const MachineRow& row_of(std::uint16_t machine) {
  for (const MachineRow& row : kMachines)
    if (row.number == machine) return row;
  return kMachines[std::size(kMachines) - 1];
}

// Why a file is not taken; unwinds the reader from wherever it was.
struct Malformed {
  std::string reason;
};

// The file as the loader sees it: by virtual address through its load segments. Every access is checked.
class ElfReader {
 public:
  ElfReader(std::span<const std::byte> file, std::uint16_t machine) : file_(file), machine_(machine) {}

  DynamicSymbols read() {
    read_header();
    read_dynamic();
    DynamicSymbols symbols;
    for (std::uint64_t offset : needed_) symbols.needed.push_back(string_at(offset));
    read_relocations(symbols);
    read_symbols(symbols);
    for (const Elf64_Phdr& segment : segments_)
      symbols.memory_bytes =
          std::max(symbols.memory_bytes, segment.p_memsz > ~segment.p_vaddr
                                             ? ~std::uint64_t{0}
                                             : std::uint64_t{segment.p_vaddr + segment.p_memsz});
    symbols.initialisers = entry(DT_INIT_ARRAYSZ).value_or(0) / sizeof(Elf64_Addr) + (entry(DT_INIT) ? 1 : 0);
    return symbols;
  }

 private:
  template <class T>
  T at_offset(std::uint64_t offset) const {
    if (offset > file_.size() || sizeof(T) > file_.size() - offset)
      throw Malformed{"it ends in the middle of a table"};
    T value;
    std::memcpy(&value, file_.data() + offset, sizeof value);
    return value;
  }
  // File offset of `bytes` bytes at a virtual address.
  std::uint64_t offset_of(std::uint64_t address, std::uint64_t bytes) const {
    for (const Elf64_Phdr& segment : segments_) {
      if (address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz) continue;
      std::uint64_t within = address - segment.p_vaddr;
      if (bytes > segment.p_filesz - within) break;
      if (segment.p_offset > file_.size() || segment.p_filesz > file_.size() - segment.p_offset) break;
      return segment.p_offset + within;
    }
    throw Malformed{"a table lies outside its segments"};
  }
  template <class T>
  T at_address(std::uint64_t address) const {
    return at_offset<T>(offset_of(address, sizeof(T)));
  }
  std::optional<std::uint64_t> entry(std::int64_t tag) const {
    auto found = dynamic_.find(tag);
    return found == dynamic_.end() ? std::nullopt : std::optional(found->second);
  }

  void read_header() {
    auto header = at_offset<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN ||
        (machine_ != EM_NONE && header.e_machine != machine_))
      throw Malformed{fmt::format("it is not a shared library for {}", row_of(machine_).name)};
    resolver_ = row_of(header.e_machine).resolver;
    if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > 64)
      throw Malformed{"its program headers make no sense"};
    for (unsigned i = 0; i < header.e_phnum; ++i) {
      auto segment = at_offset<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr));
      if (segment.p_type == PT_LOAD) {
        if ((segment.p_flags & PF_W) && (segment.p_flags & PF_X))
          throw Malformed{"it has memory both writable and executable"};
        segments_.push_back(segment);
      }
      if (segment.p_type == PT_GNU_STACK && (segment.p_flags & PF_X))
        throw Malformed{"it asks for an executable stack"};
      if (segment.p_type == PT_DYNAMIC) dynamic_segment_ = segment;
    }
  }

  void read_dynamic() {
    if (!dynamic_segment_) throw Malformed{"it has no dynamic section"};
    std::uint64_t count = std::min<std::uint64_t>(dynamic_segment_->p_memsz / sizeof(Elf64_Dyn), 4096);
    for (std::uint64_t i = 0; i < count; ++i) {
      auto dynamic = at_address<Elf64_Dyn>(dynamic_segment_->p_vaddr + i * sizeof(Elf64_Dyn));
      if (dynamic.d_tag == DT_NULL) return;
      if (dynamic.d_tag == DT_NEEDED) needed_.push_back(dynamic.d_un.d_val);
      if (dynamic.d_tag == DT_RPATH || dynamic.d_tag == DT_RUNPATH)
        throw Malformed{"it brings its own library search path"};
      if (dynamic.d_tag == DT_AUDIT || dynamic.d_tag == DT_DEPAUDIT || dynamic.d_tag == DT_FILTER ||
          dynamic.d_tag == DT_AUXILIARY)
        throw Malformed{"it redirects the loader (audit or filter entries)"};
      bool text_relocations =
          dynamic.d_tag == DT_TEXTREL || (dynamic.d_tag == DT_FLAGS && (dynamic.d_un.d_val & DF_TEXTREL));
      if (text_relocations) throw Malformed{"it needs its code rewritten while loading (text relocations)"};
      dynamic_[dynamic.d_tag] = dynamic.d_un.d_val;
    }
  }

  std::string string_at(std::uint64_t offset) const {
    std::uint64_t size = entry(DT_STRSZ).value_or(0), table = entry(DT_STRTAB).value_or(0);
    if (offset >= size) throw Malformed{"a name lies outside the string table"};
    std::uint64_t start = offset_of(table, size) + offset;
    auto* text = reinterpret_cast<const char*>(file_.data()) + start;
    std::size_t length = ::strnlen(text, std::min<std::uint64_t>(size - offset, kLongestName));
    if (length == std::min<std::uint64_t>(size - offset, kLongestName)) throw Malformed{"a name has no end"};
    return {text, length};
  }

  // Relocations name symbols too, whatever the hash table says about their number.
  void read_relocations(DynamicSymbols& symbols) {
    for (auto [table, size] : {std::pair{DT_RELA, DT_RELASZ}, std::pair{DT_JMPREL, DT_PLTRELSZ}}) {
      if (!entry(table)) continue;
      std::uint64_t count = entry(size).value_or(0) / sizeof(Elf64_Rela);
      if (count > 16 * kMostSymbols) throw Malformed{"it has too many relocations"};
      if (count == 0) continue;
      std::uint64_t start = offset_of(*entry(table), count * sizeof(Elf64_Rela));
      for (std::uint64_t i = 0; i < count; ++i) {
        auto relocation = at_offset<Elf64_Rela>(start + i * sizeof(Elf64_Rela));
        symbol_count_ = std::max<std::uint64_t>(symbol_count_, ELF64_R_SYM(relocation.r_info) + 1);
        if (ELF64_R_TYPE(relocation.r_info) == resolver_) ++symbols.resolvers;
      }
    }
    if (entry(DT_REL)) throw Malformed{"it has relocations of a kind 64-bit machines do not use"};
  }

  // The symbol table has no length of its own: the hash tables tell it.
  void count_symbols() {
    if (auto hash = entry(DT_HASH))
      symbol_count_ = std::max<std::uint64_t>(symbol_count_, at_address<std::uint32_t>(*hash + 4));
    auto gnu = entry(DT_GNU_HASH);
    if (!gnu) return;
    auto buckets = at_address<std::uint32_t>(*gnu), first = at_address<std::uint32_t>(*gnu + 4),
         bloom = at_address<std::uint32_t>(*gnu + 8);
    if (buckets > kMostSymbols || bloom > kMostSymbols) throw Malformed{"its hash table is too large"};
    std::uint64_t bucket_table = *gnu + 16 + 8ull * bloom, chain_table = bucket_table + 4ull * buckets;
    std::uint64_t last = 0;
    for (std::uint64_t i = 0; i < buckets; ++i)
      last = std::max<std::uint64_t>(last, at_address<std::uint32_t>(bucket_table + 4 * i));
    symbol_count_ = std::max<std::uint64_t>(symbol_count_, first);
    if (last < first) return;
    while ((at_address<std::uint32_t>(chain_table + 4 * (last - first)) & 1) == 0)
      if (++last > kMostSymbols) throw Malformed{"its hash table has no end"};
    symbol_count_ = std::max(symbol_count_, last + 1);
  }

  void read_symbols(DynamicSymbols& symbols) {
    auto table = entry(DT_SYMTAB);
    if (!table) throw Malformed{"it has no symbol table"};
    count_symbols();
    if (symbol_count_ > kMostSymbols) throw Malformed{"it has too many symbols"};
    if (symbol_count_ <= 1) return;
    std::uint64_t start = offset_of(*table, symbol_count_ * sizeof(Elf64_Sym));
    for (std::uint64_t i = 1; i < symbol_count_; ++i)
      add_symbol(at_offset<Elf64_Sym>(start + i * sizeof(Elf64_Sym)), symbols);
  }

  void add_symbol(const Elf64_Sym& symbol, DynamicSymbols& symbols) {
    unsigned type = ELF64_ST_TYPE(symbol.st_info), binding = ELF64_ST_BIND(symbol.st_info);
    if (binding == STB_LOCAL || type == STT_SECTION || type == STT_FILE || symbol.st_name == 0) return;
    std::string name = string_at(symbol.st_name);
    if (symbol.st_shndx == SHN_UNDEF) return symbols.imports.push_back(std::move(name));
    if (type == STT_GNU_IFUNC) ++symbols.resolvers;
    symbols.exports.push_back(name);
    symbols.definitions.push_back(
        {std::move(name), type == STT_FUNC || type == STT_GNU_IFUNC, binding == STB_WEAK});
  }

  std::span<const std::byte> file_;
  std::uint16_t machine_ = EM_NONE;
  std::uint32_t resolver_ = 0;  // type of a relocation that calls a function while loading
  std::vector<Elf64_Phdr> segments_;
  std::optional<Elf64_Phdr> dynamic_segment_;
  std::map<std::int64_t, std::uint64_t> dynamic_;
  std::vector<std::uint64_t> needed_;
  std::uint64_t symbol_count_ = 0;
};

}  // namespace

std::uint16_t elf_machine(std::string_view name) {
  utsname system{};
  if (name.empty() && ::uname(&system) == 0) name = system.machine;
  for (const MachineRow& row : kMachines)
    if (name == row.name) return row.number;
  return EM_NONE;
}

Step<DynamicSymbols> read_dynamic_symbols(std::span<const std::byte> file, std::uint16_t machine) {
  try {
    return ElfReader(file, machine).read();
  } catch (const Malformed& malformed) {
    return candidate_failed(
        Rejected{Gate::kSymbols, "the compiled library is not acceptable: " + malformed.reason});
  }
}

Step<DynamicSymbols> read_dynamic_symbols(const std::filesystem::path& artefact, std::uint16_t machine) {
  Fd fd(::open(artefact.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0)
    return fail("cannot read {}: {}", artefact.string(), std::strerror(errno));
  if (!S_ISREG(info.st_mode) || info.st_size <= 0 || static_cast<std::size_t>(info.st_size) > kLargestFile)
    return candidate_failed(
        Rejected{Gate::kSymbols, "the compiled library is empty, too large or not a file"});
  // Read, not mapped: a file that shrinks under a mapping would kill this process.
  std::vector<std::byte> content(static_cast<std::size_t>(info.st_size));
  std::size_t done = 0;
  while (done < content.size()) {
    ssize_t n = ::read(fd.get(), content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  content.resize(done);
  return read_dynamic_symbols(std::span<const std::byte>(content), machine);
}

}  // namespace kforge
