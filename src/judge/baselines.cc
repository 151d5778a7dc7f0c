#include "judge/baselines.h"

#include <algorithm>

#include "base/hash.h"
#include "execute/waiting_runners.h"
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

std::optional<BaselineRefusal> refusal_of(const std::string& name, const Verdict& verdict) {
  if (!verdict.failed()) return std::nullopt;
  return BaselineRefusal{name, gate_of(*verdict.failure).value_or(Gate::kRun), reason_text(*verdict.failure)};
}

// A library and the words that name its version: another one is judged anew.
struct Library {
  ProgramSpec spec;
  std::string what;
};

std::string gates_key(const BoundTask& task, std::string_view policy, int threads, const std::string& name,
                      const std::string& what) {
  return Hasher()
      .add("baseline gates 4")
      .add(what)
      .add(name)
      .add(task.key())
      .add(policy)
      .add(std::to_string(threads))
      .hex();
}

std::string gates_key(const JudgeContext& context, const Library& library) {
  return gates_key(*context.task, context.policy.name, context.threads, library.spec.name, library.what);
}

// In their order: what each was refused for, if anything. Those that are not known yet are judged together.
Result<std::vector<std::optional<BaselineRefusal>>> judge_libraries_once(const JudgeContext& context,
                                                                         std::span<const Library> libraries,
                                                                         FileCache& cache) {
  std::vector<std::optional<BaselineRefusal>> refusals(libraries.size());
  std::vector<std::size_t> unknown;
  std::vector<ProgramSpec> specs;
  for (std::size_t i = 0; i < libraries.size(); ++i) {
    if (auto known = cache.load(gates_key(context, libraries[i]))) {
      refusals[i] = from_cached_text(libraries[i].spec.name, *known);
      continue;
    }
    unknown.push_back(i);
    specs.push_back(libraries[i].spec);
  }
  KF_TRY(auto verdicts, judge_trusted_values(context, specs));
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    const Library& library = libraries[unknown[i]];
    refusals[unknown[i]] = refusal_of(library.spec.name, verdicts[i]);
    // One that did not start or did not come back may have met a busy machine: it is asked again next time.
    const auto& refusal = refusals[unknown[i]];
    if (refusal && refusal->gate == Gate::kRun) continue;
    (void)cache.store(gates_key(context, library), cached_text(refusal));  // without it, it only takes longer
  }
  return refusals;
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
  Verdict verdict;
  KF_TRY_VOID(judge_values(context, program.spec, verdict));
  if (auto refusal = refusal_of(name, verdict))
    return fail("--baseline {} does not compute the task: {}", name, cached_text(refusal));
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
  const Library naive[] = {{staged.spec, what + built->artefact_hash}};
  KF_TRY(auto refusals, judge_libraries_once(context, naive, cache));
  if (auto& refusal = refusals[0]) {
    refusal->baseline = kNaiveBaseline;
    baselines.refusals.push_back(*refusal);
  }
  baselines.present.push_back({kNaiveBaseline, what, staged.spec, false});
  baselines.user_programs.push_back(std::move(staged));
  return {};
}

// What the options ask for, apart from files.
struct WantedBaselines {
  BaselineOptions libraries;
  bool any = false;    // every one that is here
  bool naive = false;  // the smith's first design, on devices
  bool no_libraries = false;
  std::vector<AbsentBaseline> absent;
};

// Libraries of the processor, and which of them this platform's programs are timed against.
void keep_to_the_device(const JudgeSetup& setup, WantedBaselines& wanted) {
  std::vector<std::string>& names = wanted.libraries.names;
  if (setup.platform.kind != PlatformKind::kDevice) return;
  wanted.naive = wanted.any || std::ranges::count(names, kNaiveBaseline) > 0;
  std::erase(names, std::string(kNaiveBaseline));
  if (setup.device.this_processor()) return;
  for (const std::string& name : names)
    wanted.absent.push_back({name, "it runs on the processor, and the device is another one"});
  names.clear();
}

WantedBaselines wanted_baselines(const JudgeSetup& setup, BaselineScope scope) {
  WantedBaselines wanted;
  BaselineOptions& libraries = wanted.libraries;
  libraries.python = setup.options.python;
  libraries.threads = setup.threads;
  libraries.precision = setup.options.precision;
  libraries.tier = setup.tier;
  wanted.any = setup.options.baselines.empty();
  for (const std::string& choice : setup.options.baselines) {
    if (choice == "none" || choice.find('=') != std::string::npos) continue;
    if (choice == "all") wanted.any = true;
    libraries.names.push_back(choice);
  }
  keep_to_the_device(setup, wanted);
  if (wanted.any) libraries.names.clear();
  if (wanted.any && scope == BaselineScope::kQuickToStart) libraries.names = {"onednn"};
  wanted.no_libraries = (!wanted.any && libraries.names.empty()) || !setup.device.this_processor();
  return wanted;
}

}  // namespace

Result<Baselines> find_libraries(const JudgeSetup& setup, std::size_t index, const fs::path& graph_files,
                                 BaselineScope scope) {
  const WantedBaselines wanted = wanted_baselines(setup, scope);
  if (wanted.no_libraries) return Baselines{};
  return find_baselines(setup.bound(index), setup.machine, wanted.libraries, graph_files);
}

void start_ahead(const JudgeSetup& setup, std::size_t index, const FileCache& cache, const std::string& what,
                 ProgramSpec& spec) {
  constexpr std::chrono::milliseconds kStartLimit{60'000};
  if (spec.name == "onednn" || spec.waiting) return;  // it starts in no time; they have been started
  // In the order in which they are needed: for the gates, and for the clock.
  std::vector<int> threads;
  if (!cache.find(gates_key(setup.bound(index), setup.policy.name, setup.threads, spec.name, what)))
    threads.push_back(setup.threads);
  threads.push_back(setup.threads);
  if (setup.threads > 1) threads.push_back(1);
  spec.waiting =
      std::make_shared<WaitingRunners>(spec, threads, kStartLimit, WaitingRunners::When::kInBackground);
}

Result<CaseBaselines> find_case_baselines(const Workspace& workspace, const JudgeContext& context,
                                          FileCache& cache, Baselines found, BaselineScope scope) {
  const JudgeSetup& setup = workspace.setup();
  const WantedBaselines wanted = wanted_baselines(setup, scope);
  CaseBaselines baselines;
  baselines.absent = wanted.absent;
  for (const std::string& choice : setup.options.baselines)
    if (auto equals = choice.find('='); equals != std::string::npos)
      KF_TRY_VOID(add_user_kernel(workspace, choice.substr(0, equals), choice.substr(equals + 1), context,
                                  baselines));
  if (wanted.naive) KF_TRY_VOID(add_naive(workspace, context, cache, baselines));
  if (wanted.any && scope == BaselineScope::kAll) KF_TRY_VOID(add_module(workspace, context, baselines));
  if (wanted.no_libraries) return baselines;
  std::ranges::move(found.absent, std::back_inserter(baselines.absent));
  std::vector<Library> libraries;
  std::string names;
  for (const Baseline& baseline : found.present) {
    libraries.push_back({baseline.spec, baseline.what});  // trusted: it brings its own limits
    names += (names.empty() ? "" : ", ") + baseline.name;
  }
  workspace.progress().advance(0, "checking baselines " + names);
  KF_TRY(auto refusals, judge_libraries_once(context, libraries, cache));
  for (std::size_t i = 0; i < found.present.size(); ++i) {
    Baseline& baseline = found.present[i];
    if (auto& refusal = refusals[i]) {
      refusal->baseline = baseline.name;
      baselines.refusals.push_back(*refusal);
    }
    baselines.present.push_back({baseline.name, baseline.what, std::move(baseline.spec), true});
    baselines.present.back().witness = !refusals[i];
    baselines.present.back().release = std::move(baseline.release);
  }
  return baselines;
}

}  // namespace kforge
