#include "profile/device/instruction_mix.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/files.h"
#include "base/text.h"
#include "platform/binutils.h"

namespace kforge {
namespace {

constexpr std::string_view kMark = "__sanitizer_cov_trace_pc";
// A function of the mathematical library: about this many instructions on a device, one of them special.
constexpr double kFunctionInstructions = 12;
constexpr double kDivisionInstructions = 8, kIntegerDivision = 20;

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// How many lanes of a vector register an instruction works on: "vaddps %ymm" is eight.
double width_of(std::string_view mnemonic, std::string_view operands) {
  if (!mnemonic.ends_with("ps") && !mnemonic.ends_with("pd")) return 1;
  const double bytes = has(operands, "%zmm") ? 64 : has(operands, "%ymm") ? 32 : 16;
  return bytes / (mnemonic.ends_with("ps") ? 4 : 8);
}

bool one_of_starts(std::string_view word, std::initializer_list<std::string_view> starts) {
  return std::ranges::any_of(starts, [&](std::string_view start) { return word.starts_with(start); });
}

// Instructions of x86-64.
[[maybe_unused]] void add_x86(std::string_view mnemonic, std::string_view operands, StretchMix& mix) {
  if (mnemonic.starts_with("j")) return void(mix.instructions += 1);
  if (one_of_starts(mnemonic, {"idiv", "div"}) && !mnemonic.ends_with("s") && !mnemonic.ends_with("d"))
    return void(mix.instructions += kIntegerDivision);
  std::string_view plain = mnemonic;
  if (plain.starts_with("v")) plain.remove_prefix(1);
  const bool real =
      plain.ends_with("ss") || plain.ends_with("sd") || plain.ends_with("ps") || plain.ends_with("pd");
  const double width = width_of(plain, operands);
  if (real && one_of_starts(plain, {"fmadd", "fmsub", "fnmadd", "fnmsub"})) {
    mix.instructions += width;
    mix.flops += 2 * width;
  } else if (real && one_of_starts(plain, {"div", "sqrt", "rcp", "rsqrt"})) {
    mix.instructions += width * kDivisionInstructions;
    mix.special += width;
    mix.flops += width;
  } else if (real && one_of_starts(plain, {"add", "sub", "mul", "min", "max"})) {
    mix.instructions += width;
    mix.flops += width;
  } else if (one_of_starts(plain, {"cvt", "round", "ucomis", "comis", "cmpeq", "cmplt", "cmple", "cmpne",
                                   "cmpun", "cmpnl", "and", "or", "xor", "blend"}) &&
             (real || plain.starts_with("cvt"))) {
    // Zeroing a register is how a processor loads a constant.
    if (!plain.starts_with("xorp")) mix.instructions += width;
  } else if (one_of_starts(plain, {"add", "adc",    "sub",   "sbb",   "imul", "mul",  "inc",  "dec",
                                   "neg", "not",    "and",   "or",    "xor",  "shl",  "shr",  "sar",
                                   "sal", "rol",    "ror",   "cmp",   "test", "cmov", "set",  "bt",
                                   "lea", "popcnt", "lzcnt", "tzcnt", "bsr",  "bsf",  "bextr"})) {
    // The stack pointer is moved once in a function, whatever a device would do.
    if (!operands.ends_with("%rsp") && plain != "xor") mix.instructions += 1;
  }
}

// Instructions of AArch64.
[[maybe_unused]] void add_arm(std::string_view mnemonic, std::string_view operands, StretchMix& mix) {
  const double width = has(operands, ".4s") ? 4 : has(operands, ".2d") ? 2 : 1;
  if (one_of_starts(mnemonic, {"fmadd", "fmsub", "fnmadd", "fnmsub", "fmla", "fmls"})) {
    mix.instructions += width;
    mix.flops += 2 * width;
  } else if (one_of_starts(mnemonic, {"fdiv", "fsqrt"})) {
    mix.instructions += width * kDivisionInstructions;
    mix.special += width;
    mix.flops += width;
  } else if (one_of_starts(mnemonic, {"sdiv", "udiv"})) {
    mix.instructions += kIntegerDivision;
  } else if (one_of_starts(mnemonic, {"fadd", "fsub", "fmul", "fnmul", "fmax", "fmin", "fabs", "fneg"})) {
    mix.instructions += width;
    mix.flops += width;
  } else if (!one_of_starts(mnemonic,
                            {"mov", "fmov", "ld", "st", "bl", "ret", "nop", "adrp", "prfm", "dup", "ins"})) {
    if (!operands.starts_with("sp")) mix.instructions += width;
  }
}

void add_call(std::string_view target, StretchMix& mix) {
  if (one_of_starts(target, {"__tsan", "__sanitizer", "__ubsan", "kfe_", "mem", "_Z"})) return;
  if (!has(target, "@plt")) return;  // a function of the program: its stretches are counted
  mix.instructions += kFunctionInstructions;
  mix.special += 1;
}

struct Line {
  std::uint64_t address = 0;
  std::string_view mnemonic, operands, symbol;
};

// "    1150:\tcall   1030 <expf@plt>"
bool read_line(std::string_view text, Line& line) {
  const std::size_t colon = text.find(":\t");
  if (colon == text.npos) return false;
  const std::string_view address = trimmed(text.substr(0, colon));
  if (std::from_chars(address.data(), address.data() + address.size(), line.address, 16).ptr !=
      address.data() + address.size())
    return false;
  text = trimmed(text.substr(colon + 2));
  const std::size_t space = std::min(text.find_first_of(" \t"), text.size());
  line.mnemonic = text.substr(0, space);
  line.operands = trimmed(text.substr(space));
  line.symbol = {};
  if (const std::size_t open = line.operands.find('<'); open != text.npos) {
    line.symbol = line.operands.substr(open + 1, line.operands.find('>', open) - open - 1);
    line.operands = trimmed(line.operands.substr(0, open));
  }
  return !line.mnemonic.empty();
}

bool is_call(std::string_view mnemonic) { return mnemonic.starts_with("call") || mnemonic == "bl"; }

}  // namespace

InstructionMix mix_of(std::string_view listing) {
  InstructionMix mixes;
  StretchMix* current = nullptr;
  double frame = 0;
  bool apart = false;   // a function of the emulator's headers: what it stands for is counted as such
  bool marked = false;  // the next instruction begins a stretch
  while (!listing.empty()) {
    const std::string_view text = listing.substr(0, listing.find('\n'));
    listing.remove_prefix(std::min(listing.size(), text.size() + 1));
    if (text.ends_with(">:")) {
      current = nullptr;
      frame = 0;
      apart = text.find(" <_ZN3kfe") != text.npos;
      continue;
    }
    Line line;
    if (!read_line(text, line)) continue;
    if (marked) {
      current = &mixes[line.address];
      current->frame_bytes = frame;
      marked = false;
    }
    if (is_call(line.mnemonic)) {
      if (line.symbol == kMark || line.symbol.starts_with("__sanitizer_cov_trace_pc@"))
        marked = true;
      else if (current && !apart)
        add_call(line.symbol, *current);
      continue;
    }
    if (line.mnemonic.starts_with("sub") && line.operands.starts_with("$0x") &&
        line.operands.ends_with("%rsp")) {
      std::uint64_t bytes = 0;
      std::from_chars(line.operands.data() + 3, line.operands.data() + line.operands.size(), bytes, 16);
      frame = std::max(frame, static_cast<double>(bytes));
    }
    if (!current || apart) continue;
#if defined(__aarch64__)
    add_arm(line.mnemonic, line.operands, *current);
#else
    add_x86(line.mnemonic, line.operands, *current);
#endif
  }
  return mixes;
}

Result<InstructionMix> instruction_mix(const fs::path& library, SandboxTier tier) {
  const BinutilsCall call{
      .program = "objdump", .options = {"-d", "--no-show-raw-insn", "-j", ".text"}, .most_output = 64 << 20};
  KF_TRY(const std::string listing, ask_binutils(call, library, tier));
  InstructionMix mixes = mix_of(listing);
  if (mixes.empty()) return fail("objdump found no instructions in what the emulator built");
  return mixes;
}

}  // namespace kforge
