// Scheduled loop nests as one self-contained C++ file for the native platforms.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "smith/loops/loops.h"
#include "smith/smith.h"

namespace kforge::smith {

// A part of a program that another generator wrote (a contraction): its definitions stand before the kernel,
// its call runs outside of any parallel region, after the nests before it.
struct ForeignPart {
  std::size_t before = 0;      // index in Nest::root->body of the nest it precedes
  std::string definitions;     // at file scope
  std::string call;            // statements; tensors by their names
  std::string prepare;         // statements of prepare(), which may use params by name
  std::set<std::string> used;  // pieces of the prelude that the definitions need
  struct Buffer {
    std::string name;
    std::int64_t floats = 0;
  };
  std::vector<Buffer> buffers;  // of the state: floats, 64-byte aligned, visible by name in call and prepare
};

struct CppProgram {
  const Problem* problem = nullptr;
  Nest prepared;  // depends on params only: runs in prepare()
  Nest nest;      // runs in each call
  std::vector<ForeignPart> foreign;
  std::vector<std::string> comment;  // reasons, one line each
  std::string arithmetic = "fp32";
  bool algebraic = false;  // less arithmetic than the graph says
};

std::string emit_cpp(const CppProgram& program);

}  // namespace kforge::smith
