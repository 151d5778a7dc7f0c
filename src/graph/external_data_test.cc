#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <onnx/onnx_pb.h>

#include "base/files.h"
#include "graph/graph.h"

namespace kforge {
namespace {

using testing::HasSubstr;

class ExternalData : public testing::Test {
 protected:
  // A model whose weight w float[4] lies in `location`.
  Result<Graph> load(const std::string& location, const std::string& offset = "",
                     const std::string& length = "") {
    auto graph =
        parse_graph_text("g (float[4] x) => (float[4] y) <float[4] w = {1, 2, 3, 4}> { y = Mul(x, w) }", "t");
    onnx::ModelProto model;
    EXPECT_TRUE(model.ParseFromString(*to_onnx_model(*graph)));
    auto* tensor = model.mutable_graph()->mutable_initializer(0);
    tensor->clear_raw_data();
    tensor->set_data_location(onnx::TensorProto::EXTERNAL);
    auto add = [&](const char* key, const std::string& value) {
      if (value.empty()) return;
      auto* entry = tensor->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    add("location", location), add("offset", offset), add("length", length);
    fs::create_directories(folder_.path() / "model");
    EXPECT_TRUE(write_file_atomic(folder_.path() / "model/m.onnx", model.SerializeAsString()));
    return load_graph((folder_.path() / "model/m.onnx").string());
  }
  void write(const std::string& name, std::size_t floats) {
    std::string bytes;
    for (std::size_t i = 0; i < floats; ++i) {
      auto value = static_cast<float>(i);
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    fs::create_directories((folder_.path() / "model" / name).parent_path());
    EXPECT_TRUE(write_file_atomic(folder_.path() / "model" / name, bytes));
  }
  TempDir folder_ = *TempDir::create();
};

TEST_F(ExternalData, IsReadBesideTheModel) {
  write("w.bin", 6);
  auto graph = load("w.bin", "8", "16");
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->find_initializer("w")->tensor.as_double(), (std::vector<double>{2, 3, 4, 5}));
}

TEST_F(ExternalData, NeverOutsideTheFolder) {
  write("../secret.bin", 4);
  EXPECT_THAT(load("../secret.bin").error().message, HasSubstr("outside"));
  EXPECT_THAT(load((folder_.path() / "secret.bin").string()).error().message, HasSubstr("outside"));
  fs::create_symlink(folder_.path() / "secret.bin", folder_.path() / "model/link.bin");
  EXPECT_THAT(load("link.bin").error().message, HasSubstr("outside"));
}

TEST_F(ExternalData, MustHoldWhatIsNeeded) {
  write("w.bin", 4);
  EXPECT_THAT(load("absent.bin").error().message, HasSubstr("is not there"));
  EXPECT_THAT(load("").error().message, HasSubstr("without a location"));
  EXPECT_THAT(load("w.bin", "4").error().message, HasSubstr("does not hold"));
  EXPECT_THAT(load("w.bin", "18446744073709551615").error().message, HasSubstr("does not hold"));
  EXPECT_THAT(load("w.bin", "minus").error().message, HasSubstr("no number"));
  EXPECT_THAT(load("w.bin", "", "8").error().message, HasSubstr("does not hold"));
  fs::create_directories(folder_.path() / "model/dir");
  EXPECT_THAT(load("dir").error().message, HasSubstr("not a file"));
}

}  // namespace
}  // namespace kforge
