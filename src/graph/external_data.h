// Tensors of large models may keep their bytes in a file beside the model ("external data").
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include <onnx/onnx_pb.h>

#include "base/result.h"

namespace kforge {

// Reads `bytes` bytes for this tensor. The file must lie in `folder` or below it, by its real path: a model
// cannot name a file elsewhere, neither with ".." nor through a link. An empty folder means that external
// data is refused.
Result<std::vector<std::byte>> read_external_data(const onnx::TensorProto& proto,
                                                  const std::filesystem::path& folder, std::size_t bytes);

}  // namespace kforge
