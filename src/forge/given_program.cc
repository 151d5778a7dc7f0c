#include "forge/given_program.h"

#include "base/files.h"

namespace kforge {
namespace {

Result<std::optional<Reference>> winner_of(const std::string& id, RunRecords& records) {
  auto run = records.run(id);
  if (!run) return std::nullopt;
  if (run->result.empty()) return fail("run {} has no verified program", run->id);
  KF_TRY(Store store, Store::open());
  KF_TRY(StoredResult result, store.result(run->result));
  KF_TRY(StoredCandidate stored, store.candidate(result.candidate));
  return Reference{Candidate{stored.files, fmt::format("run {}", run->id)}, run->platform};
}

// Sources of other platforms have other endings.
const std::vector<std::string> kAnyEnding = {".cc",   ".cpp",  ".cxx", ".cu", ".cl",  ".metal",
                                             ".comp", ".glsl", ".py",  ".h",  ".hpp", ".json"};

constexpr std::size_t kMostPlanBytes = 1 << 20;

}  // namespace

Result<Candidate> read_given(const std::string& file_or_run, RunRecords& records, const Platform& platform) {
  if (fs::exists(file_or_run)) {
    KF_TRY(auto program, read_candidate(file_or_run, platform));
    if (!program) return fail("--from {}: {}", file_or_run, reason_text(program.error()));
    return *program;
  }
  KF_TRY(auto found, winner_of(file_or_run, records));
  if (!found)
    return fail_with_remedy("give a kernel file, or a run from `kforge runs`",
                            fmt::format("--from: there is no file and no run '{}'", file_or_run));
  return found->program;
}

Result<std::optional<Reference>> find_reference(const std::string& spec, RunRecords& records,
                                                const Workspace& workspace) {
  if (spec.empty()) return std::nullopt;
  if (spec == "auto") {
    const Task& task = workspace.setup().task;
    KF_TRY(auto elsewhere,
           records.best_elsewhere(task.suite.empty() ? task.name : task.suite + "/" + task.name,
                                  workspace.setup().platform.name));
    if (!elsewhere) return std::nullopt;
    KF_TRY(StoredCandidate stored, records.candidate(elsewhere->candidate));
    return Reference{Candidate{stored.files, stored.origin}, elsewhere->platform};
  }
  if (fs::exists(spec)) {
    KF_TRY(auto program, read_candidate(spec, kAnyEnding));
    if (!program) return fail("--reference {}: {}", spec, reason_text(program.error()));
    // How a device's kernels are launched is half of what they show.
    const fs::path plan = fs::path(spec).parent_path() / "plan.json";
    if (fs::is_regular_file(spec) && fs::exists(plan))
      if (auto text = read_file(plan, kMostPlanBytes)) program->files.push_back({"plan.json", *text});
    return Reference{*program, ""};
  }
  KF_TRY(auto found, winner_of(spec, records));
  if (!found)
    return fail_with_remedy("give a kernel file, a run from `kforge runs`, or auto",
                            fmt::format("--reference: there is no file and no run '{}'", spec));
  return found;
}

}  // namespace kforge
