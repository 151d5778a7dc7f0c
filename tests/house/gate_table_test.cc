// The table of gates (src/base/gate.cc), the pages that speak of it, and the code that judges.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/gate.h"
#include "house/root.h"

namespace kforge {
namespace {

std::string_view words(GateStage stage) {
  static constexpr std::string_view kWords[] = {"symbols",    "values", "calibration",
                                                "generality", "times",  "any time"};
  return kWords[static_cast<std::size_t>(stage)];
}

std::string words(const KindRule& rule) {
  static constexpr std::string_view kWords[] = {"applied", "differs: ", "not: "};
  return std::string(kWords[static_cast<std::size_t>(rule.how)]) + std::string(rule.note);
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
  const std::size_t gates = all_gates().size();
  ASSERT_EQ(rows.size(), 2 * gates) << "one table of what is asked, one by kind of platform";
  for (std::size_t i = 0; i < gates; ++i) {
    const GateRow& gate = all_gates()[i];
    const std::string name = "| `" + std::string(gate.name) + "` | ";
    EXPECT_EQ(rows[i], name + std::string(words(gate.stage)) + " | " + std::string(gate.asks) + " |");
    EXPECT_EQ(rows[gates + i],
              name + words(gate.native) + " | " + words(gate.device) + " | " + words(gate.command) + " |");
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
