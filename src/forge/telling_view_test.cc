#include "forge/telling_view.h"

#include <gtest/gtest.h>

#include "base/files.h"

namespace kforge {
namespace {

class Heard final : public RunView {
 public:
  void stage(std::string_view name) override { last = name; }
  void advance(double, std::string_view detail) override { last = detail; }
  void finish() override { last = "finished"; }
  void line(std::string_view text) override { last = text; }
  std::string last;
};

TEST(TellingView, TellsTheHostAndOtherProcesses) {
  TempDir home = *TempDir::create();
  fs::create_directories(home.path() / "locks");
  Heard host;
  {
    TellingView view(host);
    view.stage("opening");
    EXPECT_EQ(host.last, "opening");
    EXPECT_FALSE(live_status(home.path(), "r")) << "it has no name yet";
    view.announce(home.path(), "r");
    EXPECT_EQ(live_status(home.path(), "r")->stage, "opening");
    view.search_clock(12.0);
    view.stage("timing");
    const auto searching = live_status(home.path(), "r");
    EXPECT_TRUE(searching->searching);
    EXPECT_GE(searching->clock, 12);
    view.search_clock(std::nullopt);
    view.line("a line");
    EXPECT_EQ(host.last, "a line");
    EXPECT_FALSE(live_status(home.path(), "r")->searching);
  }
  EXPECT_FALSE(live_status(home.path(), "r")) << "the run is over";
}

}  // namespace
}  // namespace kforge
