#include "judge/baselines.h"

#include <algorithm>

#include "base/hash.h"
#include "generate/candidate.h"
#include "generate/smith_generator.h"
#include "judge/program.h"
#include "judge/workspace.h"
#include "verify/value_gates.h"

namespace kforge {
namespace {

// "gate: reason", as it is cached; "" when every gate was passed.
std::string cached_text(const std::optional<BaselineRefusal>& refusal) {
  return refusal ? fmt::format("{}: {}", name_of(refusal->gate), refusal->reason) : "";
}

std::optional<BaselineRefusal> from_cached_text(const std::string& baseline, const std::string& text) {
  auto colon = text.find(": ");
  if (colon == text.npos) return std::nullopt;
  return BaselineRefusal{baseline, gate_from_name(text.substr(0, colon)).value_or(Gate::kRun),
                         text.substr(colon + 2)};
}

Result<std::optional<BaselineRefusal>> judge_baseline(const JudgeContext& context, const ProgramSpec& spec,
                                                      bool trusted) {
  Verdict verdict;
  KF_TRY_VOID(trusted ? judge_trusted_values(context, spec, verdict) : judge_values(context, spec, verdict));
  if (!verdict.failed()) return std::nullopt;
  return BaselineRefusal{spec.name, gate_of(*verdict.failure).value_or(Gate::kRun),
                         reason_text(*verdict.failure)};
}

// `what` names the version: another one is judged anew.
Result<std::optional<BaselineRefusal>> judge_baseline_once(const JudgeContext& context,
                                                           const ProgramSpec& spec, const std::string& what,
                                                           FileCache& cache) {
  std::string key = Hasher()
                        .add("baseline gates 4")
                        .add(what)
                        .add(spec.name)
                        .add(context.task->key())
                        .add(context.policy.name)
                        .add(std::to_string(context.threads))
                        .hex();
  if (auto known = cache.load(key)) return from_cached_text(spec.name, *known);
  KF_TRY(auto refusal, judge_baseline(context, spec, true));
  (void)cache.store(key, cached_text(refusal));  // a cache that cannot be written only costs time
  return refusal;
}

// --baseline NAME=FILE: it must compute the task, or its time would say nothing.
Result<void> add_user_kernel(const Workspace& workspace, const std::string& name, const std::string& file,
                             const JudgeContext& context, CaseBaselines& baselines) {
  const JudgeSetup& setup = workspace.setup();
  KF_TRY(auto source, read_candidate(file, setup.platform));
  if (!source) return fail("--baseline {}: {}", name, reason_text(source.error()));
  BuildOptions options = build_options(setup);
  options.allow_libraries = true;
  KF_TRY(auto built, build_candidate(*source, setup.platform, *context.task, setup.machine, options));
  if (!built) return fail("--baseline {}: {}", name, reason_text(built.error()));
  KF_TRY(StagedProgram program, stage_program(workspace, name, *built, *context.task));
  KF_TRY(auto refusal, judge_baseline(context, program.spec, false));
  if (refusal) return fail("--baseline {} does not compute the task: {}", name, cached_text(refusal));
  baselines.present.push_back(
      {name, fmt::format("the user's kernel {}", fs::path(file).filename().string()), program.spec, true});
  baselines.user_programs.push_back(std::move(program));
  return {};
}

// On a platform of PyTorch modules the task's own module is the rival: run in the same way, it pays for the
// same things.
Result<void> add_module(const Workspace& workspace, const JudgeContext& context, CaseBaselines& baselines) {
  const JudgeSetup& setup = workspace.setup();
  if (setup.platform.language != "PyTorch module" || !setup.task.module) return {};
  workspace.progress().advance(0, "checking baseline module");
  return add_user_kernel(workspace, "module", setup.task.module->path, context, baselines);
}

// What somebody would get without trying: the smith's first design for this device.
Result<void> add_naive(const Workspace& workspace, const JudgeContext& context, FileCache& cache,
                       CaseBaselines& baselines) {
  const JudgeSetup& setup = workspace.setup();
  auto design =
      smith::device_design(problem_of(*context.task, setup.machine, setup.threads, setup.options.precision),
                           *device_language(setup.platform));
  if (!design) return baselines.absent.push_back({kNaiveBaseline, design.error().message}), Result<void>{};
  workspace.progress().advance(0, "checking baseline naive");
  const Candidate program = candidate_of(std::move(*design));
  KF_TRY(auto built,
         build_candidate(program, setup.platform, *context.task, setup.machine, build_options(setup)));
  if (!built) return baselines.absent.push_back({kNaiveBaseline, reason_text(built.error())}), Result<void>{};
  KF_TRY(StagedProgram staged, stage_program(workspace, kNaiveBaseline, *built, *context.task));
  const std::string what = fmt::format("the smith's first design, {}", setup.platform.name);
  KF_TRY(auto refusal, judge_baseline_once(context, staged.spec, what + built->artefact_hash, cache));
  if (refusal) {
    refusal->baseline = kNaiveBaseline;
    baselines.refusals.push_back(*refusal);
  }
  baselines.present.push_back({kNaiveBaseline, what, staged.spec, false});
  baselines.user_programs.push_back(std::move(staged));
  return {};
}

// Libraries of the processor, and which of them this platform's programs are timed against.
void keep_to_the_device(const JudgeSetup& setup, bool any, BaselineOptions& wanted, CaseBaselines& baselines,
                        bool& naive) {
  if (setup.platform.kind != PlatformKind::kDevice) return;
  naive = any || std::ranges::count(wanted.names, kNaiveBaseline) > 0;
  std::erase(wanted.names, std::string(kNaiveBaseline));
  if (setup.device.this_processor()) return;
  for (const std::string& name : wanted.names)
    baselines.absent.push_back({name, "it runs on the processor, and the device is another one"});
  wanted.names.clear();
}

}  // namespace

Result<CaseBaselines> find_case_baselines(const Workspace& workspace, std::size_t index,
                                          const JudgeContext& context, FileCache& cache,
                                          const fs::path& graph_files, BaselineScope scope) {
  const JudgeSetup& setup = workspace.setup();
  CaseBaselines baselines;
  BaselineOptions wanted;
  wanted.python = setup.options.python;
  wanted.threads = setup.threads;
  wanted.precision = setup.options.precision;
  bool any = setup.options.baselines.empty();
  for (const std::string& choice : setup.options.baselines) {
    auto equals = choice.find('=');
    if (choice == "none") continue;
    if (equals != std::string::npos) {
      KF_TRY_VOID(add_user_kernel(workspace, choice.substr(0, equals), choice.substr(equals + 1), context,
                                  baselines));
      continue;
    }
    if (choice == "all") any = true;
    wanted.names.push_back(choice);
  }
  bool naive = false;
  keep_to_the_device(setup, any, wanted, baselines, naive);
  if (naive) KF_TRY_VOID(add_naive(workspace, context, cache, baselines));
  if (any && scope == BaselineScope::kAll) KF_TRY_VOID(add_module(workspace, context, baselines));
  if (any) wanted.names.clear();
  if (any && scope == BaselineScope::kQuickToStart) wanted.names = {"onednn"};
  if ((!any && wanted.names.empty()) || !setup.device.this_processor()) return baselines;
  wanted.tier = setup.tier;
  KF_TRY(Baselines found, find_baselines(setup.bound(index), setup.machine, wanted, graph_files));
  baselines.absent = std::move(found.absent);
  for (Baseline& baseline : found.present) {
    workspace.progress().advance(0, "checking baseline " + baseline.name);
    ProgramSpec spec = std::move(baseline.spec);  // trusted: it brings its own limits
    KF_TRY(auto refusal, judge_baseline_once(context, spec, baseline.what, cache));
    if (refusal) {
      refusal->baseline = baseline.name;
      baselines.refusals.push_back(*refusal);
    }
    baselines.present.push_back({baseline.name, baseline.what, std::move(spec), true});
    baselines.present.back().witness = !refusal;
    baselines.present.back().release = std::move(baseline.release);
  }
  return baselines;
}

}  // namespace kforge
