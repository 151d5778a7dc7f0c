// What a program is wanted for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "machine/machine.h"

namespace kforge::smith {

enum class ArgumentRole : std::uint8_t { kInput, kParam, kInout, kOutput };

// One tensor of the C signature, as task.h declares it.
struct Argument {
  std::string name;    // in the graph
  std::string c_name;  // in task.h
  std::string output;  // kInout: the graph output that holds its new value
  ArgumentRole role = ArgumentRole::kInput;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::vector<std::string> dims;  // symbol of each dimension where it has one: loops are named after it
};

// What a program is wanted for. task/ sits above smith/, so a small adapter there fills this in.
struct Problem {
  std::string name;                 // of the task, for the header comment
  Graph graph;                      // every dimension bound
  std::vector<Argument> arguments;  // in C order
  int threads = 1;
  Machine machine;
  std::string precision = "fp32";  // policy: "fp32", "high", "bf16", "fp16"
};

}  // namespace kforge::smith
