#include "device/signature.h"

#include <fmt/format.h>

#include <algorithm>

namespace kforge {
namespace {

using Kind = KernelParameter::Kind;

// Bytes of the scalar that a type is made of: 4 for "float4*"; 0 for one that is not known (a struct).
std::size_t scalar_bytes(std::string type) {
  while (!type.empty() && (type.back() == '*' || type.back() == ' ')) type.pop_back();
  for (const char* word : {"const ", "volatile ", "unsigned ", "signed "})
    if (type.starts_with(word)) type.erase(0, std::string_view(word).size());
  while (!type.empty() && type.back() >= '0' && type.back() <= '9') type.pop_back();
  for (const char* name : {"char", "uchar", "bool", "void"})
    if (type == name) return 1;
  for (const char* name : {"short", "ushort", "half"})
    if (type == name) return 2;
  for (const char* name : {"int", "uint", "float"})
    if (type == name) return 4;
  for (const char* name : {"long", "ulong", "double"})
    if (type == name) return 8;
  return 0;
}

bool is_integer(const std::string& type) { return type != "float" && type != "double" && type != "half"; }

std::string_view name_of_scalar(PlanScalar::Type type) {
  switch (type) {
    case PlanScalar::Type::kInt32:
      return "i32";
    case PlanScalar::Type::kUint32:
      return "u32";
    case PlanScalar::Type::kInt64:
      return "i64";
    case PlanScalar::Type::kFloat32:
      return "f32";
  }
  return "";
}

std::optional<std::string> scalar_mistake(const PlanScalar& scalar, const KernelParameter& parameter) {
  const bool real = scalar.type == PlanScalar::Type::kFloat32;
  const std::size_t bytes = scalar.type == PlanScalar::Type::kInt64 ? 8 : 4;
  if (parameter.kind == Kind::kScalar && scalar_bytes(parameter.type) == bytes &&
      is_integer(parameter.type) == !real)
    return std::nullopt;
  return fmt::format("the plan gives the scalar {}", name_of_scalar(scalar.type));
}

std::optional<std::string> memory_mistake(const PlanMemory& memory, const KernelParameter& parameter) {
  if (parameter.kind != Kind::kMemory) return fmt::format("the plan gives the memory of '{}'", memory.name);
  const std::size_t bytes = scalar_bytes(parameter.type), wanted = size_of(memory.dtype);
  if (bytes == 0 || bytes == 1 || bytes == wanted) return std::nullopt;
  return fmt::format("the plan gives '{}', whose elements are {} ({} bytes)", memory.name,
                     kforge::name_of(memory.dtype), wanted);
}

}  // namespace

std::optional<std::string> signature_mistake(const LaunchPlan& plan, const PlanLaunch& launch,
                                             const std::vector<KernelParameter>& parameters) {
  std::size_t given = launch.arguments.size();
  const bool takes_shared = !parameters.empty() && parameters.back().kind == Kind::kLocal;
  const std::size_t taken = parameters.size() - (takes_shared ? 1 : 0);
  if (given != taken)
    return fmt::format("kernel '{}' takes {} arguments, and the plan gives it {}", launch.kernel, taken,
                       given);
  if (takes_shared && launch.shared_bytes == 0)
    return fmt::format("kernel '{}' takes local memory as its last parameter '{}': give 'shared_bytes'",
                       launch.kernel, parameters.back().name);
  if (!takes_shared && launch.shared_bytes > 0)
    return fmt::format(
        "kernel '{}' has no last parameter in local memory that 'shared_bytes' could go to (local arrays of "
        "the "
        "source need none)",
        launch.kernel);
  for (std::size_t i = 0; i < given; ++i) {
    const PlanArgument& argument = launch.arguments[i];
    const auto* use = std::get_if<PlanUse>(&argument);
    auto mistake = use ? memory_mistake(plan.memory[use->memory], parameters[i])
                       : scalar_mistake(std::get<PlanScalar>(argument), parameters[i]);
    if (mistake)
      return fmt::format("kernel '{}': args[{}] is parameter '{}' of type {}{}, and {}", launch.kernel, i,
                         parameters[i].name, parameters[i].kind == Kind::kLocal ? "local " : "",
                         parameters[i].type, *mistake);
  }
  return std::nullopt;
}

}  // namespace kforge
