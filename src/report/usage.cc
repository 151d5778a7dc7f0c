// How to compile, call, check and judge the kernel of a run: commands that can be copied.
#include "report/relative_path.h"
#include "report/run_report.h"

namespace kforge {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLabelWidth = 9;

// The line that was judged, with the folder of the run in place of the sandbox's.
std::vector<std::string> compile_words(const BuildFigures& build, const std::string& folder) {
  std::vector<std::string> words;
  for (const std::string& word : build.command) {
    if (word == "../src")
      words.push_back(folder);
    else if (word.starts_with("../src/"))
      words.push_back((fs::path(folder) / word.substr(7)).lexically_normal().string());
    else if (word.starts_with("../pch/"))
      words.push_back((fs::path(folder) / "check" / word.substr(7)).lexically_normal().string());
    else if (!words.empty() && words.back() == "-o")
      words.push_back((fs::path(folder) / "libkernel.so").lexically_normal().string());
    else
      words.push_back(word);
  }
  return words;
}

class UsageLines {
 public:
  explicit UsageLines(std::size_t width) : width_(width - kLabelWidth) {}

  void command(const char* label, const std::vector<std::string>& words) {
    add(label, wrapped_command(words, width_));
  }
  void text(const char* label, const std::string& words) { add(label, wrap(words, width_)); }
  std::string take() { return std::move(text_); }

 private:
  void add(std::string label, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      text_ += fmt::format("{:<{}}{}\n", label, kLabelWidth, line);
      label.clear();
    }
  }

  std::size_t width_;
  std::string text_;
};

// A program of a device is source and a plan, also where it was judged under an emulator.
bool has_plan(const RunReport& r) {
  for (const Attempt& attempt : r.attempts)
    if (attempt.number == r.best_attempt) return attempt.program() && attempt.program()->plan();
  return false;
}

std::string how_to_call(const RunReport& r, const std::string& header) {
  const EvalReport& best = *r.best;
  if (has_plan(r))
    return "plan.json beside it says how its kernels are launched (docs/devices.md); tensors contiguous, "
           "row-major";
  std::string entry = best.setup
                          ? "prepare(params...) once, kernel_prepared(state, ...) per call, release(state)"
                          : "kernel(...)";
  return fmt::format(
      "{} declares {}; tensors contiguous, row-major, 64-byte aligned; judged with OMP_NUM_THREADS={}",
      header, entry, best.threads);
}

}  // namespace

std::string usage_of_kernel(const RunReport& r, const fs::path& from, std::size_t width) {
  if (!r.best || r.kernel_path.empty()) return "";
  const EvalReport& best = *r.best;
  UsageLines lines(width);
  std::string folder = relative_to(r.folder, from);
  if (best.build) lines.command("compile", compile_words(*best.build, folder));
  lines.text("call", how_to_call(r, relative_to(r.folder + "/task.h", from)));
  if (r.has_check) {
    std::string build = (fs::path(folder) / "build").lexically_normal().string();
    std::string check = (fs::path(folder) / "check").lexically_normal().string();
    lines.command("check", {"cmake", "-S", check, "-B", build});
    lines.command("", {"cmake", "--build", build});
    lines.command("", {"ctest", "--test-dir", build});
    lines.command("", {"python3", check + "/check.py"});
  }
  std::vector<std::string> judge = {"kforge", "eval",
                                    best.task_path.empty() ? r.task : relative_to(best.task_path, from),
                                    "--kernel", relative_to(r.kernel_path, from)};
  judge.insert(judge.end(), r.judge_arguments.begin(), r.judge_arguments.end());
  lines.command("judge", judge);
  return lines.take();
}

}  // namespace kforge
