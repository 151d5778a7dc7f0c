// Scheduled loop nests as one self-contained C++ file for the native platforms.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "smith/graph/problem.h"
#include "smith/loops/loops.h"

namespace kforge::smith {

// A part of a program that another emitter wrote (a contraction): what stands before the kernel, and the
// memory it works in. The nest holds a line that calls it.
struct KernelPart {
  std::string definitions;      // at file scope
  std::set<std::string> names;  // that the definitions make or use: another part may be the same but for them
  std::string name;             // of the kernel that the definitions make
  std::string prepare;          // statements of prepare(), which may use params by name
  std::set<std::string> headers;  // of kernels/ that the definitions need
  struct Buffer {
    std::string name;
    std::int64_t floats = 0;
  };
  std::vector<Buffer>
      buffers;  // of the state: floats, 64-byte aligned, visible by name in kernel and prepare
};

struct CppProgram {
  const Problem* problem = nullptr;
  Nest prepared;  // depends on params only: runs in prepare()
  Nest nest;      // runs in each call
  std::vector<KernelPart> parts;
  std::vector<std::string> comment;  // reasons, one line each
  std::string arithmetic = "fp32";
  bool algebraic = false;  // less arithmetic than the graph says
};

// Adds to the comment what memory a large program takes.
std::string emit_cpp(CppProgram& program);

}  // namespace kforge::smith
