// A kernel behind a C interface: the header its users include, and what ties the header to the kernel.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "export/exportable.h"
#include "generate/candidate.h"
#include "task/task.h"

namespace kforge {

// The header for C: `NAME_create`, `NAME_run`, `NAME_destroy`, and `NAME_compute` for all three.
std::string c_header(const BoundTask& task, std::string_view name, std::string_view verdict);
// The header for C++: namespace NAME, class Plan, tensors as spans.
std::string cpp_header(const BoundTask& task, std::string_view name);
// task.h with the kernel's functions under names of their own, so that many kernels live in one program.
std::string renamed_task_header(const BoundTask& task, std::string_view name);
// What parts/native/plan.cc includes.
std::string kernel_calls(const BoundTask& task, std::string_view name, const std::vector<std::string>& needs,
                         bool prepared);
// "SOFTMAX"
std::string macro_prefix(std::string_view name);

// src/: the plan around the kernel, and src/kernel/: the kernel as it was judged.
std::vector<SourceFile> native_files(const Exportable& exported, std::string_view name);

}  // namespace kforge
