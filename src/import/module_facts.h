// A module at one choice of the file's numbers, as the bridge describes it.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "graph/graph.h"

namespace kforge {

struct TensorFacts {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  bool parameter = false;  // of states: trained, as opposed to a buffer

  std::size_t bytes() const;
};

struct ModuleFacts {
  std::vector<TensorFacts> inputs, states, outputs;
};

// An Error names what the answer lacks; a module could answer in the bridge's place.
Result<std::vector<TensorFacts>> tensor_facts(const nlohmann::json& list);
Result<ModuleFacts> module_facts(const nlohmann::json& answer);

}  // namespace kforge
