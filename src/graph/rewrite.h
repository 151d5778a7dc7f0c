// What one rewrite of an operator sees and makes. The rules themselves are tables: upgrade_old.cc (opsets
// before 17) and upgrade_new.cc (opsets after it).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <onnx/onnx_pb.h>

#include "base/result.h"

namespace kforge {

using NodeList = std::vector<onnx::NodeProto>;

// Constants and declared element types visible at a node; nested graphs see their parents'.
class RewriteScope {
 public:
  explicit RewriteScope(const onnx::GraphProto& graph, const RewriteScope* parent = nullptr);

  const onnx::TensorProto* constant(const std::string& name) const;
  int element_type(const std::string& name) const;  // 0 when the file does not say

 private:
  const RewriteScope* parent_;
  std::map<std::string, const onnx::TensorProto*> constants_;
  std::map<std::string, onnx::TensorProto> made_;  // of Constant nodes with value_ints and the like
  std::map<std::string, int> types_;
};

struct RewriteSite {
  const onnx::NodeProto& node;
  int opset;
  const RewriteScope& scope;
  std::string prefix;  // for names of new values; unique per site

  const onnx::AttributeProto* attribute(std::string_view name) const;
  std::int64_t int_attribute(std::string_view name, std::int64_t otherwise) const;
  float float_attribute(std::string_view name, float otherwise) const;
  std::string string_attribute(std::string_view name, std::string_view otherwise) const;
  bool has_input(int index) const { return index < node.input_size() && !node.input(index).empty(); }
  bool has_output(int index) const { return index < node.output_size() && !node.output(index).empty(); }
};

// The nodes that take the node's place.
using Rule = std::function<Result<NodeList>(const RewriteSite&)>;

struct RuleRow {
  std::string_view op;
  int first_opset, last_opset;  // of the model
  Rule rule;
};

constexpr int kEveryLater = 1 << 20;
const std::vector<RuleRow>& rules_for_older_opsets();
const std::vector<RuleRow>& rules_for_newer_opsets();

// --- makers of rules, used by the tables ---

// Attributes become constant inputs, in this order after `first_input` inputs.
struct AttributeInput {
  enum class Kind : std::uint8_t { kInts, kIntAsVector, kFloats, kFloatLikeX };
  std::string name;
  Kind kind;
};
Rule attributes_to_inputs(int first_input, std::vector<AttributeInput> attributes);
// A constant input becomes an attribute; `is_list` for ints, else one int.
Rule input_to_attribute(int input, std::string attribute, bool is_list);
// Attributes that only restate the default, or whose meaning opset 17 lacks: dropped when they have one of
// the allowed values (as text: "0", "stretch", "[1,1]" is every list of ones), refused otherwise.
struct DroppedAttribute {
  std::string name;
  std::vector<std::string> allowed;  // empty: any value
};
Rule drop_attributes(std::vector<DroppedAttribute> attributes);
Rule rename(std::string op, std::string domain = "");
Rule refuse(std::string why);
Rule in_turn(std::vector<Rule> rules);  // each sees the last node of the one before

// Nodes from text in libonnx's syntax: values in0, in1, ... are the node's inputs, out0, ... its outputs,
// every other name is new.
Result<NodeList> from_text(const RewriteSite& site, const std::string& text);
onnx::AttributeProto make_ints(const std::string& name, const std::vector<std::int64_t>& values);
onnx::AttributeProto make_string(const std::string& name, const std::string& value);
onnx::NodeProto make_constant(const std::string& name, onnx::TensorProto value);

}  // namespace kforge
