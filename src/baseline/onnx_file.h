// The bound graph as a file for onnxruntime.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "task/task.h"

namespace kforge {

// Params become initializers whose data is to be supplied when the session is made: a runtime then sees that
// they are fixed and packs them, and the file stays small.
Result<void> write_onnx_file(const BoundTask& task, const std::filesystem::path& path);

}  // namespace kforge
