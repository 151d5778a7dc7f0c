// The bound graph as a file for runtimes that read ONNX.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "task/task.h"

namespace kforge {

// onnxruntime: params become initializers whose data is to be supplied when the session is made. It then sees
// that they are fixed and packs them, and the file stays small.
Result<void> write_onnx_file(const BoundTask& task, const std::filesystem::path& path);

// OpenVINO: the graph with its operators joined (graph/join.h), params as inputs, which the program that
// reads it replaces by constants, and operators of domain "kforge" by name.
Result<void> write_onnx_file_with_inputs(const BoundTask& task, const std::filesystem::path& path);

}  // namespace kforge
