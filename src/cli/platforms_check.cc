#include "cli/platforms_check.h"

#include <fmt/core.h>

#include "base/files.h"
#include "base/readable.h"
#include "cli/commands.h"
#include "judge/platform_check.h"
#include "report/progress.h"

namespace kforge {
namespace {

Result<fs::path> report_path(const std::string& wanted, const PlatformCheck& check) {
  if (!wanted.empty()) return fs::path(wanted);
  KF_TRY(fs::path home, kforge_home());
  std::error_code error;
  fs::create_directories(home / "checks", error);
  std::string when = check.created_at;
  std::erase_if(when, [](char c) { return c == ':' || c == '-'; });
  return home / "checks" / fmt::format("{}-{}.md", check.platform.name, when);
}

void print(const PlatformCheck& check, const fs::path& report) {
  fmt::print("{}: {} ({})\n", check.platform.name, name_of(check.readiness.state),
             printable(check.readiness.reason));
  if (!check.readiness.usable()) {
    fmt::print("  {}\n", check.readiness.remedy);
    return;
  }
  std::vector<std::vector<std::string>> lines;
  for (const CheckRow& row : check.rows)
    lines.push_back({std::string(name_of(row.state)), row.part, row.name, printable(row.found)});
  fmt::print("\n{}\n{}\nreport  {}\n", table(lines), check.passed() ? "PASSED" : "FAILED", report.string());
}

}  // namespace

int check_one_platform(const std::string& platform, const std::string& wanted, bool json) {
  auto progress = make_progress(json);
  auto check = check_platform({.platform = platform}, *progress);
  progress->finish();
  if (!check) return report_error(check.error(), json);
  auto path = report_path(wanted, *check);
  if (!path) return report_error(path.error(), json);
  if (auto written = write_file_atomic(*path, to_markdown(*check)); !written)
    return report_error(written.error(), json);
  if (json)
    fmt::print("{}\n", to_json(*check));
  else
    print(*check, *path);
  if (!check->readiness.usable()) return kExitUsage;
  return check->passed() ? kExitPassed : kExitNotPassed;
}

}  // namespace kforge
