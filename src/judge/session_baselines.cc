// The baselines of a session: found once per shape case, each through the value gates, kept for every
// candidate.
#include "judge/baseline_gates.h"
#include "judge/session.h"

namespace kforge {

Result<const std::vector<Rival>*> JudgingSession::baselines(std::size_t index, const JudgeContext& context) {
  ShapeState& shape = cases_[index];
  if (!shape.rivals) {
    KF_TRY(shape.rivals, gather_rivals(shape, context));
  }
  return &*shape.rivals;
}

Result<Rival> JudgingSession::user_rival(const std::string& name, const std::string& file,
                                         const BoundTask& task, const JudgeContext& context) {
  KF_TRY(auto source, read_candidate(file, platform_.files));
  if (!source) return fail("--baseline {}: {}", name, reason_text(source.error()));
  BuildOptions options = build_options();
  options.allow_libraries = true;
  KF_TRY(auto built, build_candidate(*source, platform_, task, machine_, options));
  if (!built) return fail("--baseline {}: {}", name, reason_text(built.error()));
  KF_TRY(NativeProgram program, stage(name, *built, task));
  KF_TRY(auto failed_gate, gates_of_baseline(context, program.spec, "", nullptr));
  if (failed_gate) return fail("--baseline {} does not compute the task: {}", name, *failed_gate);
  Rival rival{name, fmt::format("the user's kernel {}", fs::path(file).filename().string()), program.spec,
              true};
  user_programs_.push_back(std::move(program));
  return rival;
}

Result<std::vector<Rival>> JudgingSession::gather_rivals(ShapeState& shape, const JudgeContext& context) {
  std::vector<Rival> rivals;
  BaselineOptions wanted;
  wanted.python = options_.python;
  wanted.threads = threads_;
  bool any = options_.baselines.empty();
  for (const std::string& choice : options_.baselines) {
    auto equals = choice.find('=');
    if (choice == "none") continue;
    if (equals == std::string::npos) {
      if (choice == "all") any = true;
      wanted.names.push_back(choice);
      continue;
    }
    KF_TRY(Rival rival,
           user_rival(choice.substr(0, equals), choice.substr(equals + 1), *shape.task, context));
    rivals.push_back(std::move(rival));
  }
  if (any) wanted.names.clear();
  if (!any && wanted.names.empty()) return rivals;
  KF_TRY(Baselines found, find_baselines(*shape.task, machine_, wanted, work_.path()));
  for (const AbsentBaseline& absent : found.absent)
    shape.absent.push_back({absent.name, absent.reason, absent.remedy});
  for (Baseline& baseline : found.present) {
    progress_->advance(0, "checking baseline " + baseline.name);
    ContenderSpec spec = std::move(baseline.spec);  // trusted: it brings its own limits
    KF_TRY(auto failed_gate, gates_of_baseline(context, spec, baseline.what, &*oracle_cache_));
    if (failed_gate)
      shape.notes.push_back(
          fmt::format("baseline {} fails a gate on this task: {}", baseline.name, *failed_gate));
    rivals.push_back({baseline.name, baseline.what, std::move(spec), true});
  }
  return rivals;
}

}  // namespace kforge
