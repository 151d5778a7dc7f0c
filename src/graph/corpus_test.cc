// Every model of ONNX's published node tests loads, or is refused for a reason that names what is missing.
#include <gtest/gtest.h>

#include <filesystem>

#include "graph/graph.h"

namespace kforge {
namespace {

namespace fs = std::filesystem;
constexpr const char* kCorpus = "/usr/share/libonnx-testdata/data/node";

bool names_what_is_missing(const std::string& message) {
  for (const char* reason : {"sequence types are not supported", "optional types are not supported",
                             "of opset 8 is not supported"})
    if (message.find(reason) != std::string::npos) return true;
  return false;
}

TEST(Corpus, LoadsOrIsRefusedByName) {
  if (!fs::exists(kCorpus)) GTEST_SKIP() << "the package libonnx-testdata is not installed";
  int loaded = 0, refused = 0;
  for (const auto& folder : fs::directory_iterator(kCorpus)) {
    auto graph = load_graph((folder.path() / "model.onnx").string());
    if (graph) {
      ++loaded;
      EXPECT_FALSE(to_json(*graph).empty());
      EXPECT_FALSE(print_graph(*graph).empty());
      continue;
    }
    ++refused;
    EXPECT_TRUE(names_what_is_missing(graph.error().message)) << graph.error().message;
  }
  RecordProperty("loaded", loaded);
  RecordProperty("refused", refused);
  EXPECT_GE(loaded, 900);
}

}  // namespace
}  // namespace kforge
