#include "import/module_facts.h"

#include <nlohmann/json.hpp>

namespace kforge {
namespace {

constexpr std::size_t kMostTensors = 20'000;
constexpr std::int64_t kLargestDim = std::int64_t{1} << 40;

}  // namespace

std::size_t TensorFacts::bytes() const {
  return static_cast<std::size_t>(element_count(shape)) * size_of(dtype);
}

Result<std::vector<TensorFacts>> tensor_facts(const nlohmann::json& list) {
  std::vector<TensorFacts> out;
  if (!list.is_array() || list.size() > kMostTensors) return fail("the bridge gave no list of tensors");
  for (const nlohmann::json& one : list) {
    if (!one.is_object() || !one.contains("name") || !one["name"].is_string() || !one.contains("dtype") ||
        !one["dtype"].is_string() || !one.contains("shape") || !one["shape"].is_array())
      return fail("the bridge described a tensor wrongly");
    TensorFacts facts;
    facts.name = one["name"].get<std::string>();
    auto dtype = dtype_from_name(one["dtype"].get<std::string>());
    if (!dtype) return fail("the bridge named a type that is none");
    facts.dtype = *dtype;
    double elements = 1;
    for (const nlohmann::json& dim : one["shape"]) {
      if (!dim.is_number_integer() || dim.get<std::int64_t>() < 0 || dim.get<std::int64_t>() > kLargestDim)
        return fail("the bridge gave a shape that is none");
      facts.shape.push_back(dim.get<std::int64_t>());
      elements *= static_cast<double>(facts.shape.back());
    }
    if (elements > static_cast<double>(kLargestDim)) return fail("the bridge gave a shape that is too large");
    facts.parameter = one.value("parameter", false);
    out.push_back(std::move(facts));
  }
  return out;
}

Result<ModuleFacts> module_facts(const nlohmann::json& answer) {
  ModuleFacts facts;
  for (const char* part : {"inputs", "states", "outputs"})
    if (!answer.contains(part)) return fail("the bridge described no {}", part);
  KF_TRY(facts.inputs, tensor_facts(answer["inputs"]));
  KF_TRY(facts.states, tensor_facts(answer["states"]));
  KF_TRY(facts.outputs, tensor_facts(answer["outputs"]));
  return facts;
}

}  // namespace kforge
