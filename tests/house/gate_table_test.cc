// The table of gates (src/base/gate.cc), the pages that speak of it, and the code that judges.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/files.h"
#include "base/gate.h"

namespace kforge {
namespace {

const fs::path kRoot = KFORGE_SOURCE_DIR;

std::string_view words(GateStage stage) {
  static constexpr std::string_view kWords[] = {"symbols",    "values", "calibration",
                                                "generality", "times",  "any time"};
  return kWords[static_cast<std::size_t>(stage)];
}

// "timed_calls" -> "Gate::kTimedCalls"
std::string enumerator(std::string_view name) {
  std::string text = "Gate::k";
  bool upper = true;
  for (char c : name) {
    if (c != '_') text += upper ? static_cast<char>(std::toupper(c)) : c;
    upper = c == '_';
  }
  return text;
}

TEST(GateTable, TheDocumentationHasEveryRowInOrder) {
  std::istringstream page(*read_file(kRoot / "docs/gates.md"));
  std::vector<std::string> rows;
  for (std::string line; std::getline(page, line);)
    if (line.starts_with("| `")) rows.push_back(line);
  ASSERT_EQ(rows.size(), all_gates().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const GateRow& gate = all_gates()[i];
    std::string kinds = gate.kinds == GateKinds::kAll ? "all" : "native";
    EXPECT_EQ(rows[i], "| `" + std::string(gate.name) + "` | " + std::string(words(gate.stage)) + " | " +
                           kinds + " | " + std::string(gate.asks) + " |");
  }
}

TEST(GateTable, TheReadmeCountsTheGatesThatAreJudged) {
  auto judged =
      std::ranges::count_if(all_gates(), [](const GateRow& row) { return row.stage != GateStage::kAnyTime; });
  std::string said = "verify: " + std::to_string(judged) + " gates";
  EXPECT_NE(read_file(kRoot / "README.md")->find(said), std::string::npos) << said;
}

TEST(GateTable, EveryGateIsJudgedSomewhere) {
  std::string source;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "src")) {
    fs::path file = entry.path();
    if (file.extension() != ".cc" || file.stem() == "gate" || file.stem().string().ends_with("_test"))
      continue;
    source += *read_file(file);
  }
  for (const GateRow& gate : all_gates())
    EXPECT_NE(source.find(enumerator(gate.name)), std::string::npos)
        << "nothing under src/ judges " << gate.name;
}

}  // namespace
}  // namespace kforge
