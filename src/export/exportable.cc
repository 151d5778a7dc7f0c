#include "export/exportable.h"

#include <algorithm>

#include "judge/recheck.h"
#include "store/runs.h"

namespace kforge {
namespace {

Result<void> may_leave(const EvalReport& report) {
  if (!report.passed())
    return fail_with_remedy(
        fmt::format("`kforge show {}` says what it failed; only verified kernels are exported",
                    report.result_id),
        fmt::format("result {} is not verified: its outcome was {}{}", report.result_id,
                    name_of(report.outcome), report.gate ? fmt::format(" at {}", report.gate_name()) : ""));
  if (report.device.emulated)
    return fail_with_remedy(
        "judge it on the device itself, then export that result",
        fmt::format("result {} was verified under an emulator ({}): nothing is known about it on the device",
                    report.result_id, report.device.name));
  if (!report.build) return fail("result {} has no record of how it was built", report.result_id);
  return {};
}

Result<void> is_native(const EvalReport& report, const Platform& platform) {
  if (platform.kind == PlatformKind::kNative) return {};
  return fail_with_remedy(
      fmt::format("`kforge show {} --source` prints the program and its launch plan", report.result_id),
      fmt::format(
          "result {} is a {} program of platform {}: it needs KForge's host side to run, and only native "
          "kernels are exported",
          report.result_id, name_of(platform.kind), platform.name));
}

Result<std::size_t> choose_case(const JudgeSetup& setup, int wanted) {
  std::size_t count = setup.cases.size();
  if (wanted == 0 && count == 1) return 0;
  if (wanted >= 1 && static_cast<std::size_t>(wanted) <= count) return static_cast<std::size_t>(wanted) - 1;
  std::string list;
  for (std::size_t i = 0; i < count; ++i)
    list += fmt::format("{}--case {}: {}", i ? "; " : "", i + 1, dims_text(setup.bound(i).shape_case.dims));
  return fail_with_remedy(list,
                          fmt::format("the shape set {} has {} shapes, and a kernel is exported for one",
                                      setup.options.shape_set, count));
}

std::vector<std::string> needs_of(const Platform& platform, const std::string& march) {
  auto found = std::ranges::find(platform.build.march, march, &FlagSet::name);
  return found == platform.build.march.end() ? std::vector<std::string>{} : found->needs;
}

}  // namespace

Result<Exportable> find_exportable(const std::string& id, int shape_case) {
  KF_TRY(Store store, Store::open());
  KF_TRY(auto records, RunRecords::open());
  Exportable found;
  std::string result = id;
  if (auto run = id == "last" ? fail("a result") : records->run(id); run) {
    if (run->result.empty()) return fail("run {} has no verified program", run->id);
    found.run = run->id;
    result = run->result;
  }
  KF_TRY(StoredResult record, store.result(result));
  KF_TRY(found.report, eval_report_from_json(record.document));
  KF_TRY_VOID(may_leave(found.report));
  KF_TRY(StoredCandidate stored, store.candidate(record.candidate));
  found.program = {stored.files, stored.origin};
  KF_TRY(Platform platform, load_platform(found.report.platform));
  KF_TRY_VOID(is_native(found.report, platform));
  KF_TRY(found.setup, open_setup(judge_options_of(found.report)));
  if (found.setup->task.content_hash != found.report.task_hash)
    return fail_with_remedy(
        "judge the kernel again on the task as it is now, then export that result",
        fmt::format("the task {} has changed since result {}", found.report.task, record.id));
  KF_TRY(found.shape_case, choose_case(*found.setup, shape_case));
  found.line = judged_line(found.program, *found.report.build);
  found.needs = needs_of(found.setup->platform, found.report.build->march);
  return found;
}

std::vector<std::string> runtime_options(const JudgedLine& line) {
  std::vector<std::string> options;
  for (const std::string& option : line.options)
    if (option.starts_with("-fopenmp")) options.push_back(option);
  return options;
}

std::vector<std::string> caveats_of(const EvalReport& report) {
  std::vector<std::string> caveats;
  if (!report.general) caveats.push_back("fixed shape: verified, and to be called, with these sizes alone");
  if (report.precision != "fp32")
    caveats.push_back(
        fmt::format("verified under the precision policy {}, which is wider than fp32", report.precision));
  if (!report.arithmetic.empty())
    caveats.push_back(fmt::format("declares the arithmetic {}", report.arithmetic));
  if (report.vacuous()) caveats.push_back("the task is vacuous: a program that does nothing would pass too");
  if (report.libraries_allowed) caveats.push_back("may call BLAS or oneDNN, which must be installed");
  if (!report.time_ns)
    caveats.push_back(report.check_only ? "its values were judged, nothing was timed"
                                        : "not timed: " + report.time_absent_reason);
  if (report.speedup && report.speedup->lo <= 1)
    caveats.push_back(
        fmt::format("not shown to be faster than {}: the interval of the ratio holds 1, or lies below",
                    report.speedup->against));
  if (report.load && report.load->busy()) caveats.push_back("the machine was busy while it was timed");
  if (report.sandbox == "none") caveats.push_back("judged without a sandbox: its checks could be got round");
  return caveats;
}

}  // namespace kforge
