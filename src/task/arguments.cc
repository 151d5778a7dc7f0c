#include "task/arguments.h"

#include <algorithm>

#include "base/nearest.h"
#include "task/c_names.h"
#include "task/distribution.h"

namespace kforge {
namespace {

class Builder {
 public:
  Builder(const Graph& graph, const TaskFile& file) : graph_(graph), file_(file) {}

  Result<std::vector<Argument>> build() {
    for (const Value& input : graph_.inputs) KF_TRY_VOID(add(input.name, input.type, Role::kInput, false));
    for (const Initializer& initializer : graph_.initializers)
      if (!initializer.folded)
        KF_TRY_VOID(add(initializer.name, graph_.types.at(initializer.name), Role::kParam, true));
    for (const auto& [name, words] : file_.tensors)
      if (!described_.contains(name)) return unknown_tensor(name);
    for (const Value& output : graph_.outputs) {
      if (written_.contains(output.name)) continue;
      if (output.type.dtype == DType::kString) return fail("output '{}' is a string tensor", output.name);
      arguments_.push_back(
          {output.name, make_c_name(output.name, taken_), {}, Role::kOutput, output.type, {}});
    }
    if (std::ranges::none_of(
            arguments_, [](const Argument& a) { return a.role == Role::kOutput || a.role == Role::kInout; }))
      return fail("the graph has no outputs");
    return std::move(arguments_);
  }

 private:
  Result<void> add(const std::string& name, const TensorType& type, Role role, bool has_values) {
    Argument argument{name, make_c_name(name, taken_), {}, role, type, {}};
    if (has_values) argument.distribution.kind = Distribution::Kind::kFixed, argument.stated = true;
    if (type.dtype == DType::kString)
      return fail("'{}' is a string tensor, which a kernel cannot take", name);
    if (auto found = file_.tensors.find(name); found != file_.tensors.end()) {
      described_.insert(name);
      KF_TRY_VOID(apply(found->second, argument, has_values));
    }
    arguments_.push_back(std::move(argument));
    return {};
  }

  Result<void> apply(const TensorWords& words, Argument& argument, bool has_values) {
    if (words.role) {
      if (has_values && *words.role != Role::kParam)
        return fail("tensor '{}' is an initializer: its role can only be \"param\"", argument.name);
      argument.role = *words.role;
    }
    if (argument.role == Role::kInout) KF_TRY_VOID(apply_output(words.output, argument));
    if (words.values) {
      if (words.values->kind == Distribution::Kind::kFixed && !has_values)
        return fail("tensor '{}': only initializers can be \"fixed\"", argument.name);
      if (auto fits = check_distribution(*words.values, argument.type.dtype); !fits)
        return fail("tensor '{}': {}", argument.name, fits.error().message);
      argument.distribution = *words.values;
      argument.stated = true;
    }
    return {};
  }

  Result<void> apply_output(const std::string& name, Argument& argument) {
    auto output = std::ranges::find(graph_.outputs, name, &Value::name);
    if (output == graph_.outputs.end())
      return fail("tensor '{}': the graph has no output '{}'", argument.name, name);
    if (output->type.dtype != argument.type.dtype || output->type.dims.size() != argument.type.dims.size())
      return fail("tensor '{}' is {} but its new value '{}' is {}", argument.name, to_string(argument.type),
                  name, to_string(output->type));
    if (!written_.insert(name).second) return fail("output '{}' is the new value of two tensors", name);
    argument.output = name;
    return {};
  }

  std::unexpected<Error> unknown_tensor(const std::string& name) {
    std::vector<std::string> known;
    for (const Argument& argument : arguments_) known.push_back(argument.name);
    return fail("[tensors.{}]: the graph has no such input or parameter{}", name, did_you_mean(name, known));
  }

  const Graph& graph_;
  const TaskFile& file_;
  std::vector<Argument> arguments_;
  std::set<std::string> taken_, described_, written_;
};

}  // namespace

Result<std::vector<Argument>> make_arguments(const Graph& graph, const TaskFile& file) {
  return Builder(graph, file).build();
}

}  // namespace kforge
