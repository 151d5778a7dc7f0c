// The hot loop: of the innermost loops the one with most samples, or without samples the one with most vector
// work. Its listing goes to agents, its counts become facts, its instructions go to llvm-mca.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "generate/quote.h"
#include "profile/disassembly.h"
#include "profile/parsers.h"

namespace kforge {
namespace {

constexpr std::size_t kListedInstructions = 60;
constexpr std::size_t kLongestForMca = 2'000;

bool is_any(std::string_view word, std::initializer_list<std::string_view> starts) {
  return std::ranges::any_of(starts, [&](std::string_view start) { return word.starts_with(start); });
}
bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

struct Counts {
  int fp = 0, fma = 0, loads = 0, stores = 0, spills = 0, gathers = 0, inserts = 0, divisions = 0, calls = 0,
      streaming = 0;
  std::map<int, int> by_width;  // floating-point instructions by vector bits, 32 for scalar

  int width() const {
    int best = 0, most = 0;
    for (auto [bits, count] : by_width)
      if (count >= most) best = bits, most = count;
    return best;
  }
};

bool is_float(std::string_view m) {
  if (is_any(m, {"vmov", "mov", "vbroadcast", "vperm", "vshuf", "vunpck", "unpck", "shuf", "vinsert",
                 "vextract", "vxor", "xor", "vand", "and", "prefetch", "vgather", "vblend"}))
    return false;
  if (is_any(m, {"vp", "p"})) return false;  // integers: vpmaxsd, vpdpbusd
  return m.ends_with("ps") || m.ends_with("pd") || m.ends_with("ss") || m.ends_with("sd") ||
         m.ends_with("ph") || is_any(m, {"vdpbf16", "tdp"});
}

int width_of(const Instruction& i) {
  if (i.mnemonic.starts_with("tdp")) return 8192;
  if (contains(i.operands, "%zmm")) return 512;
  if (contains(i.operands, "%ymm")) return 256;
  return i.mnemonic.ends_with("ss") || i.mnemonic.ends_with("sd") ? 32 : 128;
}

void count(const Instruction& i, Counts& c) {
  std::string_view m = i.mnemonic;
  if (is_any(m, {"nop", "lea", "j", "data16", "cs", "xchg"}) && !m.starts_with("jmpq *")) return;
  if (m.starts_with("call")) ++c.calls;
  if (contains(m, "gather")) ++c.gathers;
  if (is_any(m, {"vinsertps", "vpinsr", "insertps", "pinsr", "vunpcklps", "unpcklps", "vmovhps", "movhps"}))
    ++c.inserts;
  if (is_any(m, {"vdiv", "div", "idiv", "vsqrt", "sqrt"})) ++c.divisions;
  if (is_any(m, {"vmovnt", "movnt"})) ++c.streaming;
  if (is_float(m)) {
    ++c.fp;
    ++c.by_width[width_of(i)];
    if (is_any(m, {"vfmadd", "vfnmadd", "vfmsub", "vfnmsub", "vdpbf16", "tdp"})) ++c.fma;
  }
  std::size_t memory = i.operands.find('(');
  if (memory == std::string::npos) return;
  bool last = i.operands.find_first_of(",", i.operands.find(')', memory)) == std::string::npos;
  bool stores = last && (is_any(m, {"mov", "vmov", "vextract", "tilestored"}) || contains(m, "scatter"));
  ++(stores ? c.stores : c.loads);
  if (contains(i.operands, "(%rsp)") ||
      (contains(i.operands, "(%rbp)") && i.operands.find("-0x") != std::string::npos))
    ++c.spills;
}

Counts count(const Loop& loop) {
  Counts counts;
  for (std::size_t i = loop.first; i <= loop.last; ++i) count(loop.function->instructions[i], counts);
  return counts;
}

std::uint64_t samples_in(const Loop& loop, const std::map<std::uint64_t, std::uint32_t>& samples) {
  const auto& code = loop.function->instructions;
  std::uint64_t sum = 0;
  for (auto it = samples.lower_bound(code[loop.first].address);
       it != samples.end() && it->first <= code[loop.last].address; ++it)
    sum += it->second;
  return sum;
}

// Without samples: vector arithmetic counts by its width, loops that only move data little.
double vector_work(const Counts& c) {
  double work = 0.1 * (c.loads + c.stores) + 4.0 * c.calls;
  for (auto [bits, n] : c.by_width) work += n * (bits / 32.0);
  return work + c.fma * 4;
}

// Compilers put rare paths behind a function and jump back from them: such a run of instructions is seldom a
// loop.
double likely_loop(const Loop& loop) {
  const auto& code = loop.function->instructions;
  for (std::size_t i = loop.first; i <= loop.last; ++i)
    if (code[i].mnemonic.starts_with("ret")) return 0;
  return code[loop.last].mnemonic.starts_with("jmp") ? 0.2 : 1;
}

// Start-up and helper functions of the compiler are never hot.
bool is_ours(const Function& function) {
  return !is_any(function.name, {"_init", "_fini", "_start", "deregister_tm", "register_tm", "__do_global",
                                 "frame_dummy", "prepare", "release"}) &&
         !contains(function.name, "@plt");
}

struct Choice {
  Loop loop;
  Counts counts;
  std::uint64_t samples = 0;
};

std::optional<Choice> choose(const std::vector<Function>& functions, const Findings& findings,
                             std::uint64_t all_samples) {
  std::optional<Choice> best;
  double best_score = 0;
  for (const Loop& loop : innermost_loops(functions)) {
    if (!is_ours(*loop.function)) continue;
    Choice choice{loop, count(loop), samples_in(loop, findings.samples)};
    bool sampled = all_samples >= 20;
    double score =
        sampled ? static_cast<double>(choice.samples) : likely_loop(loop) * vector_work(choice.counts);
    if (!best || score > best_score) best = choice, best_score = score;
  }
  return best;
}

// Which instructions of a loop are shown: all of a short one, of a long one the hottest with their
// neighbours, or its beginning where there are no samples.
std::vector<bool> shown_of(const Loop& loop, const std::map<std::uint64_t, std::uint32_t>& samples) {
  constexpr std::size_t kAround = 3;
  const auto& code = loop.function->instructions;
  const std::size_t count = loop.last - loop.first + 1;
  std::vector<bool> shown(count, count <= kListedInstructions);
  if (count <= kListedInstructions) return shown;
  std::vector<std::pair<std::uint32_t, std::size_t>> hottest;  // samples, place
  for (std::size_t i = 0; i < count; ++i)
    if (auto found = samples.find(code[loop.first + i].address); found != samples.end())
      hottest.emplace_back(found->second, i);
  std::ranges::stable_sort(hottest, std::ranges::greater(), &std::pair<std::uint32_t, std::size_t>::first);
  std::size_t left = kListedInstructions;
  auto show = [&](std::size_t i) {
    if (left > 0 && !shown[i]) shown[i] = true, --left;
  };
  for (const auto& [times, at] : hottest)
    for (std::size_t i = at - std::min(at, kAround); i <= std::min(at + kAround, count - 1); ++i) show(i);
  if (hottest.empty())
    for (std::size_t i = 0; i < count; ++i) show(i);
  return shown;
}

std::string listing(const Loop& loop, Findings& findings) {
  const auto& code = loop.function->instructions;
  std::string text = fmt::format("in {}\n", single_line(loop.function->name, 100)), file;
  const std::vector<bool> shown = shown_of(loop, findings.samples);
  int line = 0;
  std::size_t left_out = 0;
  auto say_left_out = [&] {
    if (left_out > 0) text += fmt::format("[... {} instructions]\n", left_out);
    left_out = 0;
  };
  for (std::size_t i = loop.first; i <= loop.last; ++i) {
    const Instruction& at = code[i];
    if (at.line > 0) findings.hot_lines[at.file].push_back(at.line);
    if (!shown[i - loop.first]) {
      ++left_out;
      continue;
    }
    say_left_out();
    if (at.line != line || at.file != file) {
      file = at.file, line = at.line;
      // Where an intrinsic is defined says nothing about the program.
      if (line > 0 && file.find("intrin.h") == std::string::npos)
        text += fmt::format("; {}:{}\n", file, line);
    }
    auto samples = findings.samples.find(at.address);
    std::string mark = samples == findings.samples.end() ? "" : fmt::format("{}", samples->second);
    text += fmt::format("{:>6} {:x}: {} {}\n", mark, at.address, at.mnemonic, at.operands);
  }
  say_left_out();
  return text;
}

// What llvm-mca reads: no jumps (their targets are not there), no calls.
std::string assembly(const Loop& loop) {
  std::string text;
  if (loop.last - loop.first > kLongestForMca) return text;
  for (std::size_t i = loop.first; i <= loop.last; ++i) {
    const Instruction& at = loop.function->instructions[i];
    if (is_any(at.mnemonic, {"j", "call", "ret", "notrack", "bnd", "data16", "cs", "nop", "(bad)"})) continue;
    text += fmt::format("{} {}\n", at.mnemonic, at.operands);
  }
  return text;
}

}  // namespace

bool parse_hot_loop(const Said& said, Findings& findings) {
  std::vector<Function> functions = parse_listing(said.out);
  std::uint64_t all = 0;
  for (auto [address, count] : findings.samples) all += count;
  auto chosen = choose(functions, findings, all);
  if (!chosen) {
    findings.profile.absent.push_back(
        fmt::format("{}: no loop was found in the compiled program", said.profiler));
    return false;
  }
  const Counts& c = chosen->counts;
  auto fact = [&](std::string_view name, double value, std::string_view unit = "") {
    findings.fact(name, value, unit, said.profiler);
  };
  fact("hot_loop_instructions", static_cast<double>(chosen->loop.last - chosen->loop.first + 1));
  fact("hot_loop_vector_bits", c.width(), "bits");
  fact("hot_loop_fp", c.fp);
  fact("hot_loop_fma", c.fma);
  fact("hot_loop_loads", c.loads);
  fact("hot_loop_stores", c.stores);
  fact("hot_loop_streaming_stores", c.streaming);
  fact("hot_loop_spills", c.spills);
  fact("hot_loop_gathers", c.gathers);
  fact("hot_loop_inserts", c.inserts);
  fact("hot_loop_divisions", c.divisions);
  fact("hot_loop_calls", c.calls);
  if (all >= 20)
    fact("hot_loop_share", 100.0 * static_cast<double>(chosen->samples) / static_cast<double>(all), "%");
  findings.profile.texts.push_back(
      {std::string(kHotLoopTitle), listing(chosen->loop, findings), said.profiler});
  if (c.calls == 0) findings.hot_loop_assembly = assembly(chosen->loop);
  return true;
}

}  // namespace kforge
