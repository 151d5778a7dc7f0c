// Values to call a kernel with and what it must give for them, small enough to be stored beside it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "generate/candidate.h"
#include "task/task.h"
#include "verify/policy.h"

namespace kforge {

struct CheckTensor {
  const BoundArgument* argument;
  std::vector<std::byte> bytes;  // of what is given
  std::size_t stored = 0;        // bytes of those in the file; they repeat to the end
  bool compared = false;
  std::int64_t every = 1;  // each so-many-th element of a result is stored
  double absolute = 0, relative = 0;
  std::string expected;  // raw float64 or int64

  bool given() const { return argument->role != Role::kOutput; }
  bool written() const { return argument->role == Role::kOutput || argument->role == Role::kInout; }
};

// In the order of the arguments, with values by the oracle. They point into `task`.
Result<std::vector<CheckTensor>> make_check_tensors(const BoundTask& task, const PrecisionPolicy& policy,
                                                    int threads);

// "(const float*)t[0]": a pointer as the kernel declares this argument.
std::string pointer_text(const BoundArgument& argument, std::string_view pointer);

// A header for C and C++ with the table of the tensors and `call(char* const* t)`, whose body is `call`.
std::string tensors_header(const std::vector<CheckTensor>& tensors, std::string_view includes,
                           std::string_view call);
// The same table for Python.
std::string tensors_json(const std::vector<CheckTensor>& tensors, bool prepared);
// "FOLDER/x.in", "FOLDER/y.expected".
std::vector<SourceFile> tensor_files(const std::vector<CheckTensor>& tensors, std::string_view folder);

}  // namespace kforge
