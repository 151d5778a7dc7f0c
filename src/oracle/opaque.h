// Who runs PyTorch modules that are references themselves (graph/opaque.h). The oracle has no Python: whoever
// starts the program installs what does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace kforge {

struct OpaqueTensor {
  std::string name;               // of the module: "x", "fc.weight"
  bool state = false;             // what the module holds, as opposed to an argument of forward
  DType dtype = DType::kFloat32;  // as the module has it; of a result: of `data`
  Shape shape;
  std::vector<std::byte> data;  // float64 or float32 as the call says, int64 for everything else
};

struct OpaqueCall {
  std::string source;  // the module's file
  std::map<std::string, std::int64_t> numbers;
  std::vector<OpaqueTensor> tensors;
  bool wide = true;  // in float64 where the module can
};

class OpaqueModules {
 public:
  virtual ~OpaqueModules() = default;
  // Results are float64, float32 or int64. An Error tells what the module did wrong.
  virtual Result<std::vector<OpaqueTensor>> run(const OpaqueCall& call) = 0;
};

// Null: opaque tasks are an Error.
void set_opaque_modules(std::shared_ptr<OpaqueModules> modules);
std::shared_ptr<OpaqueModules> opaque_modules();

}  // namespace kforge
