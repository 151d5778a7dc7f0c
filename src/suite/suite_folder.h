// The folder of a suite: suite.json (what it goes through), records/ (one file for each finished task,
// written whole or not at all), runs/ (what `forge` wrote), and at the end report.json, report.csv,
// report.md and report.html. $KFORGE_HOME/suites has one entry for each suite: the folder, or a link to where
// --out put it.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "suite/suite_plan.h"
#include "suite/suite_record.h"

namespace kforge {

class SuiteFolder {
 public:
  // Gives the plan its id. `out` empty: under $KFORGE_HOME. An Error: something else lies in `out`.
  static Result<SuiteFolder> create(SuitePlan plan, const std::filesystem::path& out);
  // By id, by a prefix that fits only one, by "last", or by the path of its folder.
  static Result<SuiteFolder> find(std::string_view which);
  static Result<SuiteFolder> open(const std::filesystem::path& folder);
  // Newest first; what cannot be read is left out.
  static Result<std::vector<SuiteFolder>> all();

  const SuitePlan& plan() const { return plan_; }
  const std::filesystem::path& path() const { return path_; }

  // Only one process works on a suite. An Error: another one does.
  Result<FileLock> hold() const;
  bool held() const { return FileLock::held(lock_file()); }
  std::filesystem::path lock_file() const { return path_ / "lock"; }

  std::filesystem::path run_folder(const SuiteItem& item) const { return path_ / "runs" / item.path(); }
  Result<void> save(const SuiteItem& item, const SuiteRecord& record) const;
  // Nothing: the item is not finished. A record that cannot be read counts as none: the task is done again.
  std::optional<SuiteRecord> record(const SuiteItem& item) const;
  void forget(const SuiteItem& item) const;
  // Of all finished items, in their order.
  std::vector<SuiteRecord> records() const;

 private:
  SuiteFolder(std::filesystem::path path, SuitePlan plan) : path_(std::move(path)), plan_(std::move(plan)) {}
  std::filesystem::path record_file(const SuiteItem& item) const {
    return path_ / "records" / (item.path() + ".json");
  }

  std::filesystem::path path_;
  SuitePlan plan_;
};

}  // namespace kforge
