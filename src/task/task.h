// A task: what is to be computed, on which shapes, from which values. Read from a folder (task.toml with
// graph.onnx.txt or graph.onnx) or a bare .onnx file; docs/tasks.md describes the format.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/cost.h"
#include "graph/graph.h"

namespace kforge {

enum class Role : std::uint8_t {
  kInput,  // new values in every call
  kParam,  // fixed between calls: weights, and every initializer that is not folded
  kInout,  // read and written in place; restored before every call, checked after it
  kOutput,
};
std::string_view name_of(Role role);

// How values of a tensor are drawn. `a` and `b` mean what the kind says.
struct Distribution {
  enum class Kind : std::uint8_t {
    kUniform,      // in [a, b)
    kNormal,       // mean a, deviation b
    kPositive,     // uniform in [a, b), stays positive under every input kind (variances, second moments)
    kInteger,      // whole numbers in [a, b): class labels, indices, steps. Never perturbed by input kinds
    kProbability,  // rows of the last axis are positive and sum to 1
    kLogProbability,
    kSigns,  // -1 or +1
    kMask,   // 1 with probability a, else 0
    kFixed,  // the initializer's own values; other input kinds shuffle and scale them
  };
  Kind kind = Kind::kUniform;
  double a = -1, b = 1;
  // kInteger's bounds may be dimensions ("integer(0, V)"); bind_task puts their numbers into a and b.
  std::string a_symbol, b_symbol;
  // kInteger without bounds: every valid index of what the tensor indexes. Resolved by bind_task too.
  bool any_index = false;
};

// One tensor of the C signature.
struct Argument {
  std::string name;    // in the graph
  std::string c_name;  // in task.h
  std::string output;  // for kInout: the graph output that holds its new value
  Role role = Role::kInput;
  TensorType type;
  Distribution distribution;
  bool stated = false;  // task.toml gives the distribution; else bind_task guesses it from the bound graph
};

struct ShapeCase {
  std::map<std::string, std::int64_t> dims;
  double weight = 1;
};

// The PyTorch module that a task was imported from.
struct ModuleSource {
  std::string path, text;  // of the Python file in the task's folder
  std::map<std::string, std::int64_t>
      numbers;  // at its top, as they are for `bench`; symbols of the graph among them
  std::map<std::string, std::string> equal;  // numbers that must be what another is
  std::vector<std::string> flags;            // what makes figures on it worth less: "stochastic", "constant"
  std::string made_by;                       // PyTorch, exporter and how well the graph agreed
};

struct Task {
  std::string name;          // "gemm_scale_leakyrelu"
  std::string suite;         // "fusion"; empty for a task given by path
  std::string description;   // one line
  std::string origin;        // "KernelBench level 2 #12" where the task follows one; else empty
  std::string path;          // absolute: the folder or model file it was read from
  std::string source_text;   // graph text, for people and agents
  std::string content_hash;  // of task.toml and graph together
  Graph graph;
  std::vector<Argument> arguments;  // in C order: graph inputs, then initializers, then outputs
  std::map<std::string, std::vector<ShapeCase>> shapes;  // "bench", "small", "odd", sometimes "full"
  std::vector<std::string> notes;  // remarks printed with results ("algebraic collapse possible", ...)
  std::optional<ModuleSource> module;
};

// "fusion/gemm_scale_leakyrelu", or the name alone where there is no suite.
std::string full_name(const Task& task);

// `spec` is a path to a folder or .onnx file, or a name looked up in the suites ("softmax" or
// "core/softmax"). A misspelt name gets the nearest ones.
Result<Task> load_task(std::string_view spec);
// The names of all tasks of the suites ("core/softmax"), sorted, without reading one.
Result<std::vector<std::string>> task_names();
// Every task of the suites below data_root()/tasks, sorted; a task that does not load is an Error naming it.
Result<std::vector<Task>> load_all_tasks(std::string_view suite = "");

// Gives dimensions of a shape set other sizes, in all its cases: `--set B=32,D=64`. An Error names a
// dimension that the task does not have.
Result<void> set_dims(Task& task, std::string_view shape_set,
                      const std::map<std::string, std::int64_t>& dims);
// "B=32,D=64"; several texts are one list.
Result<std::map<std::string, std::int64_t>> parse_dims(const std::vector<std::string>& texts);
// "B=32 D=64"
std::string dims_text(const std::map<std::string, std::int64_t>& dims);

// A task with one shape case filled in: everything later steps need.
struct BoundArgument {
  std::string name, c_name, output;
  Role role;
  DType dtype;
  Shape shape;
  Distribution distribution;
  // Largest value an integer-valued index may take + 1 where it indexes something (Gather, labels), else 0.
  std::int64_t index_limit = 0;
  // Values of kFixed; belongs to the Task. Null for every other distribution.
  const ConstantTensor* fixed = nullptr;

  std::size_t bytes() const;
};

struct BoundTask {
  const Task* task = nullptr;  // outlives this
  std::string shape_set;       // "bench"
  ShapeCase shape_case;
  Graph graph;  // bound
  std::vector<BoundArgument> arguments;
  GraphCost cost;

  std::string key() const;  // hash of content and dimensions: names caches
};

bool has_params(const BoundTask& task);

// An Error names the shape set that does not exist, or why the graph does not fit it.
Result<BoundTask> bind_task(const Task& task, std::string_view shape_set, std::size_t case_index = 0);
// With these dimensions, whether a file names them or not.
Result<BoundTask> bind_case(const Task& task, const std::string& set, const ShapeCase& shape_case);
// Shapes that no file names, drawn from the seed (gate "generality"): one between `small` and `odd`; for up
// to three dimensions one in which it alone is long, up to twice `bench`; and one in which it is somewhat
// shorter. The others shrink, so that each is quick to judge.
Result<std::vector<BoundTask>> bind_hidden_shapes(const Task& task, std::uint64_t seed);

// Dimensions by the names that programs know them by: constants of task.h, macros of device sources, symbols
// of launch plans.
std::map<std::string, std::int64_t> dimension_symbols(const BoundTask& task);

// The header given to native candidates.
std::string make_task_header(const BoundTask& task);

}  // namespace kforge
