#include "task/task_file.h"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "base/toml_section.h"
#include "task/distribution.h"

namespace kforge {
namespace {

constexpr std::int64_t kDimLimit = std::int64_t{1} << 40;

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  Result<TaskFile> read(const toml::table& root) {
    TaskFile file;
    KF_TRY_VOID(check_keys(root, {"name", "description", "origin", "notes", "module", "shapes", "tensors"},
                           "task.toml"));
    KF_TRY(file.name, text(root, "name"));
    KF_TRY(file.description, text(root, "description"));
    KF_TRY(file.origin, text(root, "origin"));
    if (file.description.empty())
      return at(root, "'description' is missing: one line that says what is computed");
    if (const toml::node* notes = root.get("notes")) {
      KF_TRY(file.notes, words(*notes, "notes"));
    }
    const toml::node* shapes = root.get("shapes");
    if (!shapes || !shapes->is_table()) return at(shapes ? *shapes : root, "the table [shapes] is missing");
    for (const auto& [set, node] : *shapes->as_table()) {
      KF_TRY(file.shapes[std::string(set.str())], shape_set(node, set.str()));
    }
    if (const toml::node* tensors = root.get("tensors")) KF_TRY_VOID(read_tensors(*tensors, file));
    if (const toml::node* module = root.get("module")) KF_TRY_VOID(read_module(*module, file));
    return file;
  }

 private:
  template <class Node>
  std::unexpected<Error> at(const Node& node, const std::string& message) {
    return fail("{}:{}: {}", path_, node.source().begin.line, message);
  }

  Result<void> check_keys(const toml::table& table, const std::vector<std::string>& known,
                          std::string_view where) {
    for (const auto& [key, node] : table) {
      std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      return at(key,
                fmt::format("unknown key '{}' in {}; there are {}", name, where, fmt::join(known, ", ")));
    }
    return {};
  }

  Result<void> read_module(const toml::node& node, TaskFile& file) {
    if (!node.is_table()) return at(node, "'module' must be a table");
    const toml::table& table = *node.as_table();
    KF_TRY_VOID(check_keys(table, {"file", "numbers", "equal", "flags", "made_by"}, "[module]"));
    ModuleSource module;
    KF_TRY(module.path, text(table, "file"));
    KF_TRY(module.made_by, text(table, "made_by"));
    if (module.path.empty() || module.path.find('/') != std::string::npos || module.path == "..")
      return at(node, "[module] needs 'file': the name of a Python file in the task's folder");
    if (const toml::node* numbers = table.get("numbers")) {
      if (!numbers->is_table()) return at(*numbers, "'numbers' must be a table of whole numbers");
      for (const auto& [name, value] : *numbers->as_table()) {
        if (!value.is_integer()) return at(value, fmt::format("'{}' must be a whole number", name.str()));
        module.numbers[std::string(name.str())] = value.as_integer()->get();
      }
    }
    if (const toml::node* equal = table.get("equal")) {
      if (!equal->is_table()) return at(*equal, "'equal' must be a table of names of 'numbers'");
      for (const auto& [name, leader] : *equal->as_table()) {
        std::string follower(name.str());
        if (!leader.is_string() || !module.numbers.contains(follower) ||
            !module.numbers.contains(leader.as_string()->get()))
          return at(leader, fmt::format("'{}' must be one of 'numbers', and name another of them", follower));
        module.equal[follower] = leader.as_string()->get();
      }
    }
    if (const toml::node* flags = table.get("flags")) {
      KF_TRY(module.flags, words(*flags, "flags"));
    }
    file.module = std::move(module);
    return {};
  }

  Result<std::string> text(const toml::table& table, std::string_view key) {
    const toml::node* node = table.get(key);
    if (!node) return std::string();
    if (!node->is_string()) return at(*node, fmt::format("'{}' must be a string", key));
    return node->as_string()->get();
  }

  Result<std::vector<std::string>> words(const toml::node& node, std::string_view key) {
    std::vector<std::string> out;
    if (!node.is_array()) return at(node, fmt::format("'{}' must be an array of strings", key));
    for (const toml::node& one : *node.as_array()) {
      if (!one.is_string()) return at(one, fmt::format("'{}' must be an array of strings", key));
      out.push_back(one.as_string()->get());
    }
    return out;
  }

  Result<std::vector<ShapeCase>> shape_set(const toml::node& node, std::string_view set) {
    static constexpr std::string_view kSets[] = {"bench", "small", "odd", "full"};
    if (std::find(std::begin(kSets), std::end(kSets), set) == std::end(kSets))
      return at(node, fmt::format("unknown shape set '{}'; there are bench, small, odd, full", set));
    std::vector<ShapeCase> cases;
    if (node.is_table()) {
      KF_TRY(ShapeCase one, shape_case(node));
      cases.push_back(std::move(one));
    } else if (node.is_array() && !node.as_array()->empty()) {
      for (const toml::node& entry : *node.as_array()) {
        KF_TRY(ShapeCase one, shape_case(entry));
        cases.push_back(std::move(one));
      }
    } else {
      return at(node,
                fmt::format("shape set '{}' must be a table of dimensions or a list of such tables", set));
    }
    return cases;
  }

  Result<ShapeCase> shape_case(const toml::node& node) {
    if (!node.is_table()) return at(node, "a shape case must be a table of dimensions");
    ShapeCase out;
    for (const auto& [key, value] : *node.as_table()) {
      if (key.str() == "weight") {
        auto weight = value.value<double>();
        if (!weight || !(*weight > 0) || !std::isfinite(*weight))
          return at(value, "a weight must be a positive number");
        out.weight = *weight;
        continue;
      }
      auto extent = value.is_integer() ? value.value<std::int64_t>() : std::nullopt;
      if (!extent || *extent < 1 || *extent > kDimLimit)
        return at(value, fmt::format("the dimension '{}' must be a whole number from 1 to 2^40", key.str()));
      out.dims[std::string(key.str())] = *extent;
    }
    return out;
  }

  Result<void> read_tensors(const toml::node& node, TaskFile& file) {
    if (!node.is_table()) return at(node, "'tensors' must be a table");
    for (const auto& [key, value] : *node.as_table()) {
      if (!value.is_table()) return at(value, fmt::format("[tensors.{}] must be a table", key.str()));
      KF_TRY(file.tensors[std::string(key.str())], tensor(*value.as_table(), key.str()));
    }
    return {};
  }

  Result<TensorWords> tensor(const toml::table& table, std::string_view name) {
    KF_TRY_VOID(check_keys(table, {"role", "values", "output"}, fmt::format("[tensors.{}]", name)));
    TensorWords out;
    out.line = static_cast<int>(table.source().begin.line);
    KF_TRY(std::string role, text(table, "role"));
    for (Role known : {Role::kInput, Role::kParam, Role::kInout})
      if (role == name_of(known)) out.role = known;
    if (table.contains("role") && !out.role)
      return at(table, fmt::format("tensor '{}': role is \"input\", \"param\" or \"inout\", not \"{}\"", name,
                                   role));
    KF_TRY(out.output, text(table, "output"));
    bool is_inout = out.role == Role::kInout;
    if (is_inout && out.output.empty())
      return at(
          table,
          fmt::format("tensor '{}': an inout needs 'output', the graph output that is its new value", name));
    if (!is_inout && table.contains("output"))
      return at(table, fmt::format("tensor '{}': only an inout has an 'output'", name));
    if (const toml::node* values = table.get("values")) {
      if (!values->is_string()) return at(*values, "'values' must be a string such as \"normal(0, 1)\"");
      auto parsed = parse_distribution(values->as_string()->get());
      if (!parsed) return at(*values, fmt::format("tensor '{}': {}", name, parsed.error().message));
      out.values = *parsed;
    }
    return out;
  }

  const std::string& path_;
};

}  // namespace

Result<TaskFile> parse_task_file(std::string_view text, const std::string& path) {
  KF_TRY(toml::table root, parse_toml(text, path));
  return Reader(path).read(root);
}

}  // namespace kforge
