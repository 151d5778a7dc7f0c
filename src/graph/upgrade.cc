#include "graph/upgrade.h"

namespace kforge {

Result<void> upgrade_to_opset17(onnx::ModelProto&) { return {}; }

}  // namespace kforge
