// A program between graph and loops: tensors, and stages that define them element by element. Elementwise
// operators and every change of shape have disappeared into the expressions of the stages that use them; what
// is left are reductions, scans, results used more than once, and outputs.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "smith/expr/expr.h"
#include "smith/graph/problem.h"

namespace kforge::smith {

struct TensorInfo {
  enum class Where : std::uint8_t { kInput, kParam, kOutput, kInout, kTemporary, kConstant };
  std::string name;  // as loads and stores call it
  DType dtype = DType::kFloat32;
  Shape shape;
  Where where = Where::kTemporary;
  std::string c_name;                        // of arguments
  std::shared_ptr<ConstantTensor> constant;  // kConstant
};

enum class Combine : std::uint8_t { kNone, kSum, kProduct, kMax, kMin };
std::string_view name_of(Combine combine);
Expr identity_of(Combine combine, Type type);
Expr combined(Combine combine, const Expr& a, const Expr& b);

// C++ for operators that no loop nest describes (sorting, recurrences, scattering): a call of a kernel, or a
// few lines. `lines` may
// use the tensors' names in braces, "{x}", for their pointers; it runs inside of the parallel region.
struct NativeCode {
  std::vector<std::string> reads, writes;
  std::string lines;
  std::set<std::string> headers;  // of kernels/ that the lines need
  bool parallel = false;          // contains "#pragma omp for" of its own; else one thread runs it
};

struct Stage {
  std::string tensor;      // what it defines
  Shape view;              // dimensions under which `dims` index it
  std::vector<Expr> dims;  // variables, one per dimension of `view`
  Combine combine = Combine::kNone;
  std::vector<Expr> reduced;  // variables combined over, in order
  Expr body;                  // value, or what is combined
  int scan_axis = -1;         // >= 0: a running combination along this dimension
  bool exclusive = false, reverse = false;
  std::shared_ptr<const NativeCode> native;
  const Node* node = nullptr;  // the operator it comes from, where it comes from one (contractions)
  bool loose = false;          // a product's epilogue that joins its reader where it has only one
  std::string label;           // for people: "Softmax_3 maximum"
};

struct Program {
  std::map<std::string, TensorInfo> tensors;
  std::vector<Stage> stages;  // in an order that defines before use
  std::vector<std::string> notes;
  std::vector<std::string> algebra;  // exact rewrites that do less arithmetic than the graph says, in words

  const TensorInfo& tensor(const std::string& name) const { return tensors.at(name); }
};

// Tensors a stage reads, and those it writes.
std::set<std::string> reads_of(const Stage& stage);
std::set<std::string> writes_of(const Stage& stage);

std::string print(const Program& program);

// The graph as a program. An operator that is not supported is an Error that names it.
Result<Program> lower(const Problem& problem);

}  // namespace kforge::smith
