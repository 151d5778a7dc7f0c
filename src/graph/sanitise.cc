#include "graph/sanitise.h"

#include <unordered_map>
#include <unordered_set>

namespace kforge {
namespace {

class Renamer {
 public:
  // Names that are identifiers already keep their name, so they are taken first.
  void reserve(const onnx::GraphProto& graph) {
    each_name(const_cast<onnx::GraphProto&>(graph), [&](std::string* name) {
      if (as_identifier(*name) == *name) taken_.insert(*name);
    });
  }

  void rename(onnx::GraphProto& graph) {
    each_name(graph, [&](std::string* name) { *name = new_name(*name); });
  }

 private:
  template <class Visit>
  static void each_name(onnx::GraphProto& graph, Visit&& visit) {
    auto visit_field = [&](std::string* name) {
      if (!name->empty()) visit(name);
    };
    for (auto& value : *graph.mutable_input()) visit_field(value.mutable_name());
    for (auto& value : *graph.mutable_output()) visit_field(value.mutable_name());
    for (auto& value : *graph.mutable_value_info()) visit_field(value.mutable_name());
    for (auto& tensor : *graph.mutable_initializer()) visit_field(tensor.mutable_name());
    for (auto& node : *graph.mutable_node()) {
      for (auto& name : *node.mutable_input()) visit_field(&name);
      for (auto& name : *node.mutable_output()) visit_field(&name);
      for (auto& attribute : *node.mutable_attribute())
        if (attribute.has_g()) each_name(*attribute.mutable_g(), visit);
    }
  }

  const std::string& new_name(const std::string& old) {
    auto [entry, inserted] = names_.try_emplace(old);
    if (!inserted) return entry->second;
    std::string wanted = as_identifier(old);
    if (wanted != old) {
      std::string base = wanted;
      int& number = last_number_.try_emplace(base, 1).first->second;
      while (!taken_.insert(wanted).second) wanted = base + "_" + std::to_string(++number);
    }
    return entry->second = wanted;
  }

  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, std::string> names_;
  std::unordered_map<std::string, int> last_number_;  // per base, so that many equal ones take linear time
};

}  // namespace

std::string as_identifier(std::string_view name) {
  std::string out;
  for (char c : name) {
    bool keep = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    out += keep ? c : '_';
  }
  if (!out.empty() && out[0] >= '0' && out[0] <= '9') out.insert(out.begin(), '_');
  return out;
}

void sanitise_names(onnx::GraphProto& graph) {
  Renamer renamer;
  renamer.reserve(graph);
  renamer.rename(graph);
}

}  // namespace kforge
