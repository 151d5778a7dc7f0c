// A device language as a table of spellings: types, qualifiers, barriers, indices, functions. The kernels
// themselves are written once (kernel_*.cc); what differs between OpenCL C, GLSL, CUDA C++ and MSL is in
// here.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "smith/device/device_language.h"
#include "smith/expr/expr.h"

namespace kforge::smith {

// One buffer that a kernel takes.
struct KernelBuffer {
  std::string name;  // in the launch plan
  std::string text;  // in the source
  DType dtype = DType::kFloat32;
  bool written = false;
  bool read = false;
};

struct Dialect {
  DeviceLanguage language = DeviceLanguage::kOpenCl;
  std::string_view name;       // "opencl"
  std::string_view file;       // "kernel.cl"
  std::string_view whole;      // 64-bit integer
  std::string_view whole_end;  // what ends its literals
  std::string_view infinity, nan;
  std::string_view shared;  // qualifier of memory that a workgroup shares
  bool shared_at_file_scope = false;
  std::string_view function;     // what stands before a function of kernels/device/
  std::string_view constant;     // before a table of constants: "static __device__ const"
  std::string_view barrier;      // all of the workgroup, and what it wrote to shared memory
  std::string_view barrier_all;  // and to buffers
  std::string_view lane, lanes;  // index in the workgroup
  std::string_view group[3], groups;
  std::string_view float_bits, bits_float;  // "as_int({0})", "as_float({0})"
  bool constructor_casts = false;           // float(x), else (float)(x)
  bool has_double = true;
  std::map<DType, std::string_view> stored;  // element types in buffers
  std::map<Op, std::string_view> functions;  // that the language has itself; others come from kernels/device/
  std::set<std::string_view> reserved;       // words that cannot be names

  std::string type(Type type) const;  // values
  std::string cast(std::string_view type, const std::string& text) const;
  std::string cast(Type to, const std::string& text) const { return cast(type(to), text); }
  std::string literal(double value, Type type) const;
  std::string whole_literal(std::int64_t value) const;
  // A name of the graph as an identifier of the language.
  std::string identifier(const std::string& name) const;

  // The parts of a kernel around its body.
  std::string open_kernel(const std::string& name, const std::vector<KernelBuffer>& buffers, int block,
                          const std::vector<std::string>& shared_declarations) const;
  std::string close_kernel() const;
  // What stands at the top of the file.
  std::string file_head(bool narrow_ints, bool halves, bool doubles) const;
};

const Dialect& dialect_of(DeviceLanguage language);

}  // namespace kforge::smith
