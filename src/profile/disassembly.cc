#include "profile/disassembly.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace kforge {
namespace {

constexpr std::size_t kMostInstructions = 1'000'000;

std::optional<std::uint64_t> hex(std::string_view text) {
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// "0000000000001150 <kernel>:"
std::optional<std::string> function_name(std::string_view line) {
  std::size_t open = line.find(" <");
  if (open == std::string_view::npos || !line.ends_with(">:") || !hex(line.substr(0, open)))
    return std::nullopt;
  return std::string(line.substr(open + 2, line.size() - open - 4));
}

// "/somewhere/src/kernel.cc:42 (discriminator 3)"
std::optional<std::pair<std::string, int>> source_line(std::string_view line) {
  line = line.substr(0, line.find(" (discriminator"));
  std::size_t colon = line.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  int number = 0;
  auto [end, error] = std::from_chars(line.data() + colon + 1, line.data() + line.size(), number);
  if (error != std::errc() || end != line.data() + line.size()) return std::nullopt;
  std::string_view path = line.substr(0, colon);
  std::size_t slash = path.rfind('/');
  return std::pair(std::string(slash == std::string_view::npos ? path : path.substr(slash + 1)), number);
}

// "    1150:\tvmovups (%rdi,%rax,1),%zmm0   # comment"
std::optional<Instruction> instruction(std::string_view line) {
  std::size_t colon = line.find(":\t");
  if (colon == std::string_view::npos) return std::nullopt;
  auto address = hex(trimmed(line.substr(0, colon)));
  if (!address) return std::nullopt;
  std::string_view text = trimmed(line.substr(colon + 2));
  text = trimmed(text.substr(0, text.find('#')));
  Instruction found;
  found.address = *address;
  std::size_t space = std::min(text.find_first_of(" \t"), text.size());
  found.mnemonic = text.substr(0, space);
  std::string_view operands = trimmed(text.substr(space));
  if (std::size_t symbol = operands.find(" <"); symbol != std::string_view::npos) {
    if (found.mnemonic.starts_with('j'))
      if (auto target = hex(operands.substr(0, symbol))) found.target = *target;
    operands = operands.substr(0, symbol);
  }
  found.operands = operands;
  return found;
}

}  // namespace

std::vector<Function> parse_listing(std::string_view text) {
  std::vector<Function> functions;
  std::string file;
  int line_number = 0;
  std::size_t count = 0;
  while (!text.empty() && count < kMostInstructions) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.size() > 4096) continue;
    if (auto name = function_name(line)) {
      functions.push_back({*name, {}});
      file.clear(), line_number = 0;
    } else if (auto found = instruction(line)) {
      if (functions.empty()) continue;
      found->file = file, found->line = line_number;
      functions.back().instructions.push_back(std::move(*found));
      ++count;
    } else if (auto source = source_line(line)) {
      file = source->first, line_number = source->second;
    }
  }
  return functions;
}

std::vector<Loop> innermost_loops(const std::vector<Function>& functions) {
  std::vector<Loop> innermost;
  for (const Function& function : functions) {
    const auto& code = function.instructions;
    std::vector<Loop> loops;  // one per backward jump, in order of their ends
    for (std::size_t i = 0; i < code.size(); ++i) {
      if (code[i].target == 0 || code[i].target > code[i].address) continue;
      auto first = std::ranges::lower_bound(code, code[i].target, {}, &Instruction::address);
      if (first == code.end() || first->address != code[i].target) continue;
      loops.push_back({&function, static_cast<std::size_t>(first - code.begin()), i});
    }
    // Ends rise, so a loop has another inside when a later start was seen at or after its own start.
    std::size_t latest_start = 0;
    bool any = false;
    for (const Loop& loop : loops) {
      bool has_inner = any && latest_start >= loop.first;
      if (!has_inner) innermost.push_back(loop);
      latest_start = any ? std::max(latest_start, loop.first) : loop.first;
      any = true;
    }
  }
  return innermost;
}

}  // namespace kforge
