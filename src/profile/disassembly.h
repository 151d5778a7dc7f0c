// objdump's listing of a library as instructions, and the loops in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kforge {

struct Instruction {
  std::uint64_t address = 0;
  std::string mnemonic, operands;  // AT&T order, comments and symbols taken off
  std::uint64_t target = 0;        // of a jump inside the function; 0: none
  std::string file;                // source, where debug information is there: "kernel.cc"
  int line = 0;
};

struct Function {
  std::string name;
  std::vector<Instruction> instructions;
};

// A run of instructions that ends with a jump back to its first, and has no other such run inside.
struct Loop {
  const Function* function = nullptr;
  std::size_t first = 0, last = 0;  // indices, inclusive
};

// Listings beyond a bound (1,000,000 instructions) are cut.
std::vector<Function> parse_listing(std::string_view objdump);
std::vector<Loop> innermost_loops(const std::vector<Function>& functions);

}  // namespace kforge
