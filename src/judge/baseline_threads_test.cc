// Which number of threads a baseline is timed with: the better one, found in the same rounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "judge/evaluate.h"
#include "judge/small_workspace.h"

namespace kforge {
namespace {

using testing::HasSubstr;

// A relu that does its work fifty times over when the number of threads is not the one it likes.
std::string relu_that_likes(const std::string& condition) {
  return R"(#include "task.h"
#include <omp.h>
extern "C" void kernel(const float* x, float* y) {
  const long repeats = omp_get_max_threads() )" +
         condition + R"( ? 400 : 20000;
  for (long again = 0; again < repeats; ++again) {
    asm volatile("" ::: "memory");
    for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] < 0 ? 0 : x[i];
  }
}
)";
}

class BaselineThreads : public SmallWorkspace {
 protected:
  fs::path file(const std::string& name, const std::string& source) const {
    fs::path path = dir_.path() / (name + ".cc");
    std::ofstream(path) << source;
    return path;
  }
  // What the report says of a baseline beside an ordinary kernel.
  std::string told_of(const std::string& baseline) {
    EvalOptions options;
    options.task = "core/relu";
    options.shape_set = "small";
    options.sandbox = SandboxTier::kNone;
    options.threads = 2;
    options.store = false;
    options.rounds = 5;
    options.kernel = file("kernel", relu_that_likes("> 0"));
    options.baselines = {"other=" + file("other", baseline).string()};
    auto report = evaluate(options, progress_);
    EXPECT_TRUE(report) << report.error().text();
    if (!report || report->baselines.empty()) return report ? report->reason : "";
    return report->baselines[0].what;
  }

  TempDir dir_ = TempDir::create(0755).value();
};

TEST_F(BaselineThreads, OneThatIsQuickerAloneIsTimedAlone) {
  EXPECT_THAT(told_of(relu_that_likes("== 1")), HasSubstr(", 1 thread"));
}

TEST_F(BaselineThreads, OneThatIsQuickerWithAllHasThemAll) {
  EXPECT_THAT(told_of(relu_that_likes("> 1")), HasSubstr(", 2 threads"));
}

}  // namespace
}  // namespace kforge
