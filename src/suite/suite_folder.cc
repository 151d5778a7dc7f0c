#include "suite/suite_folder.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/lock_holder.h"
#include "store/store.h"

namespace kforge {
namespace {

constexpr std::size_t kPlanLimit = 64 << 20, kRecordLimit = 1 << 20;

Result<fs::path> index_folder() {
  KF_TRY(fs::path home, kforge_home());
  fs::path folder = home / "suites";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail("cannot make {}: {}", folder.string(), error.message());
  return folder;
}

Result<void> make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return {};
  return fail_with_remedy("name another folder with --out",
                          fmt::format("cannot make {}: {}", folder.string(), error.message()));
}

}  // namespace

Result<SuiteFolder> SuiteFolder::create(SuitePlan plan, const fs::path& out) {
  plan.id = new_result_id();
  plan.created_at = utc_now();
  KF_TRY(fs::path index, index_folder());
  const fs::path folder = out.empty() ? index / plan.id : fs::absolute(out).lexically_normal();
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_empty(folder, error))
    return fail_with_remedy(
        "name another folder with --out, or empty it",
        fmt::format("{} is not empty, and no suite of this kind lies there", folder.string()));
  KF_TRY_VOID(make_folder(folder));
  KF_TRY_VOID(write_file_atomic(folder / "suite.json", to_json(plan)));
  if (!out.empty()) {
    fs::create_directory_symlink(folder, index / plan.id, error);
    if (error) return fail("cannot write {}: {}", (index / plan.id).string(), error.message());
  }
  return SuiteFolder(folder, std::move(plan));
}

Result<SuiteFolder> SuiteFolder::open(const fs::path& folder) {
  KF_TRY(std::string text, read_file(folder / "suite.json", kPlanLimit));
  auto plan = suite_plan_from_json(text);
  if (!plan) return fail("{}: {}", (folder / "suite.json").string(), plan.error().message);
  std::error_code ignored;
  return SuiteFolder(fs::canonical(folder, ignored), std::move(*plan));
}

Result<std::vector<SuiteFolder>> SuiteFolder::all() {
  KF_TRY(fs::path index, index_folder());
  std::vector<SuiteFolder> suites;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(index, ignored))
    if (auto suite = open(entry.path())) suites.push_back(std::move(*suite));
  // Ids tell the order.
  std::ranges::sort(suites, std::greater<>(), [](const SuiteFolder& suite) { return suite.plan().id; });
  return suites;
}

Result<SuiteFolder> SuiteFolder::find(std::string_view which) {
  std::error_code ignored;
  if (fs::exists(fs::path(which) / "suite.json", ignored)) return open(which);
  KF_TRY(auto suites, all());
  std::erase_if(suites, [&](const SuiteFolder& suite) {
    return which != "last" && (which.empty() || !suite.plan().id.starts_with(which));
  });
  if (suites.empty())
    return fail_with_remedy("`kforge runs` lists them", fmt::format("there is no suite {}", which));
  if (suites.size() > 1 && which != "last")
    return fail("{} fits {} suites: {} and {}", which, suites.size(), suites[0].plan().id,
                suites[1].plan().id);
  return std::move(suites.front());
}

Result<FileLock> SuiteFolder::hold() const {
  // A process that was killed while it started another has left its lock with that one, for a moment.
  for (int i = 0; i < 20; ++i) {
    KF_TRY(auto lock, FileLock::take(lock_file()));
    if (lock) {
      note_lock_holder(lock_file());
      return std::move(*lock);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return fail("another process works on suite {}", plan_.id);
}

Result<void> SuiteFolder::save(const SuiteItem& item, const SuiteRecord& record) const {
  KF_TRY_VOID(make_folder(record_file(item).parent_path()));
  return write_file_atomic(record_file(item), to_json(record));
}

std::optional<SuiteRecord> SuiteFolder::record(const SuiteItem& item) const {
  auto text = read_file(record_file(item), kRecordLimit);
  if (!text) return std::nullopt;
  auto record = suite_record_from_json(*text);
  if (!record) return std::nullopt;
  return std::move(*record);
}

void SuiteFolder::forget(const SuiteItem& item) const {
  std::error_code ignored;
  fs::remove(record_file(item), ignored);
}

std::vector<SuiteRecord> SuiteFolder::records() const {
  std::vector<SuiteRecord> found;
  for (const SuiteItem& item : items_of(plan_))
    if (auto one = record(item)) found.push_back(std::move(*one));
  return found;
}

}  // namespace kforge
