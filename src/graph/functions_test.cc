// Model-local functions: expanded on loading, whatever their opset, with defaults, and never without end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <onnx/onnx_pb.h>

#include "base/files.h"
#include "graph/graph.h"

namespace kforge {
namespace {

using testing::HasSubstr;

class Functions : public testing::Test {
 protected:
  Functions() {
    auto graph = parse_graph_text("g (float[2, 3] x) => (float[2, 3] y) { y = Relu(x) }", "t");
    EXPECT_TRUE(model_.ParseFromString(*to_onnx_model(*graph)));
    auto* import = model_.add_opset_import();
    import->set_domain("own");
    import->set_version(1);
    auto* node = model_.mutable_graph()->mutable_node(0);
    node->set_domain("own");
    node->set_op_type("F");
  }

  onnx::FunctionProto* add_function(const std::string& name, int opset) {
    auto* function = model_.add_functions();
    function->set_name(name);
    function->set_domain("own");
    function->add_input("a");
    function->add_output("b");
    auto* import = function->add_opset_import();
    import->set_domain("");
    import->set_version(opset);
    return function;
  }

  static onnx::NodeProto* add_node(onnx::FunctionProto* function, const std::string& op,
                                   const std::string& from, const std::string& to,
                                   const std::string& domain = "") {
    auto* node = function->add_node();
    node->set_op_type(op);
    node->set_domain(domain);
    node->add_input(from);
    node->add_output(to);
    return node;
  }

  Result<Graph> load() {
    auto path = (folder_.path() / "m.onnx").string();
    EXPECT_TRUE(write_file_atomic(path, model_.SerializeAsString()));
    return load_graph(path);
  }

  onnx::ModelProto model_;
  TempDir folder_ = *TempDir::create();
};

TEST_F(Functions, AreExpanded) {
  auto* f = add_function("F", 17);
  add_node(f, "Neg", "a", "t");
  add_node(f, "G", "t", "b", "own");
  add_node(add_function("G", 17), "Abs", "a", "b");
  auto graph = load();
  ASSERT_TRUE(graph) << graph.error().message;
  ASSERT_EQ(graph->nodes.size(), 2u);
  EXPECT_EQ(graph->nodes[0].op, "Neg");
  EXPECT_EQ(graph->nodes[1].op, "Abs");
}

TEST_F(Functions, OfANewerOpset) {
  add_node(add_function("F", 20), "Gelu", "a", "b");
  auto graph = load();
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->nodes[0].domain, "kforge");
}

TEST_F(Functions, AttributesAreGivenOrDefault) {
  auto* f = add_function("F", 17);
  auto* attribute = add_node(f, "LeakyRelu", "a", "b")->add_attribute();
  attribute->set_name("alpha");
  attribute->set_type(onnx::AttributeProto::FLOAT);
  attribute->set_ref_attr_name("slope");
  // The default is in field 11 (attribute_proto), which this version of libonnx does not know.
  onnx::AttributeProto slope;
  slope.set_name("slope");
  slope.set_type(onnx::AttributeProto::FLOAT);
  slope.set_f(0.25f);
  f->mutable_unknown_fields()->AddLengthDelimited(11, slope.SerializeAsString());
  auto graph = load();
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->nodes[0].float_attr("alpha", 0), 0.25f);

  slope.set_f(0.75f);
  *model_.mutable_graph()->mutable_node(0)->add_attribute() = slope;
  graph = load();
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->nodes[0].float_attr("alpha", 0), 0.75f);
}

TEST_F(Functions, ThatCallThemselvesAreRefused) {
  add_node(add_function("F", 17), "F", "a", "b", "own");
  auto graph = load();
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().message, HasSubstr("call themselves"));
}

TEST_F(Functions, ThatMultiplyAreRefused) {
  for (int level = 0; level < 20; ++level) {
    auto* f = add_function(level == 0 ? "F" : "F" + std::to_string(level), 17);
    std::string next = level == 19 ? "Relu" : "F" + std::to_string(level + 1),
                domain = level == 19 ? "" : "own";
    add_node(f, next, "a", "t", domain);
    add_node(f, next, "t", "u", domain);
    add_node(f, next, "u", "b", domain);
  }
  auto graph = load();
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().message, HasSubstr("more than"));
}

TEST_F(Functions, WithTooManyInputsAreRefused) {
  add_node(add_function("F", 17), "Neg", "a", "b");
  model_.mutable_graph()->mutable_node(0)->add_input("x");
  EXPECT_THAT(load().error().message, HasSubstr("more inputs or outputs"));
}

}  // namespace
}  // namespace kforge
