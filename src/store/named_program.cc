#include "store/named_program.h"

#include <algorithm>

namespace kforge {
namespace {

bool all_in(std::string_view text, std::string_view letters) {
  return !text.empty() && text.find_first_not_of(letters) == text.npos;
}

Result<NamedProgram> of_result(Store& store, std::string_view id) {
  KF_TRY(StoredResult record, store.result(id));
  NamedProgram found{.name = record.id, .result = record.id};
  KF_TRY(found.report, eval_report_from_json(record.document));
  if (record.candidate.empty())
    return fail("result {} has no program to compare: its outcome was {}", record.id, record.outcome);
  KF_TRY(found.program, store.candidate(record.candidate));
  return found;
}

Result<NamedProgram> of_attempt(Store& store, StoredRun run, Attempt attempt) {
  NamedProgram found{.name = fmt::format("{}:{}", run.id, attempt.number)};
  const Candidate* program = attempt.program();
  if (!program) return fail("attempt {} of run {} has no program yet, or none came", attempt.number, run.id);
  found.program = {program->content_hash(), program->origin, program->files};
  if (attempt.judgement && !attempt.judgement->result.empty()) {
    found.result = attempt.judgement->result;
    KF_TRY(StoredResult record, store.result(found.result));
    KF_TRY(found.report, eval_report_from_json(record.document));
  }
  found.run = std::move(run);
  found.attempt = std::move(attempt);
  return found;
}

Result<NamedProgram> of_run(Store& store, RunRecords& records, StoredRun run) {
  if (!run.result.empty()) {
    KF_TRY(NamedProgram found, of_result(store, run.result));
    found.name = run.id;
    found.run = std::move(run);
    return found;
  }
  KF_TRY(auto attempts, records.attempts(run.id));
  const auto best = std::find_if(attempts.rbegin(), attempts.rend(),
                                 [](const Attempt& attempt) { return attempt.accepted(); });
  if (best == attempts.rend())
    return fail_with_remedy(fmt::format("name one of its attempts, as {}:1", run.id),
                            fmt::format("run {} has no verified program", run.id));
  KF_TRY(NamedProgram found, of_attempt(store, std::move(run), std::move(*best)));
  found.name = found.run->id;
  return found;
}

// The newest result of a program says what is known of it.
Result<NamedProgram> of_hash(Store& store, const std::string& hash) {
  KF_TRY(std::string id, store.newest_result_of(hash));
  NamedProgram found{.name = hash};
  if (!id.empty()) {
    KF_TRY(found, of_result(store, id));
    found.name = hash;
    return found;
  }
  KF_TRY(found.program, store.candidate(hash));
  return found;
}

}  // namespace

bool is_attempt_name(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != text.npos && all_in(text.substr(0, colon), "0123456789abcdefghijklmnopqrstuvwxyz") &&
         all_in(text.substr(colon + 1), "0123456789") && text.size() - colon <= 8 && colon <= 12;
}

bool is_program_hash(std::string_view text) { return text.size() == 64 && all_in(text, "0123456789abcdef"); }

Result<NamedProgram> named_program(Store& store, RunRecords& records, const std::string& which) {
  if (is_program_hash(which)) return of_hash(store, which);
  if (is_attempt_name(which)) {
    const std::size_t colon = which.find(':');
    const int number = std::stoi(which.substr(colon + 1));
    KF_TRY(StoredRun run, records.run(which.substr(0, colon)));
    KF_TRY(auto attempts, records.attempts(run.id));
    const auto found = std::ranges::find(attempts, number, &Attempt::number);
    if (found == attempts.end())
      return fail_with_remedy(fmt::format("kforge show {} lists them", run.id),
                              fmt::format("run {} has no attempt {}", run.id, number));
    return of_attempt(store, std::move(run), std::move(*found));
  }
  if (which != "last")
    if (auto run = records.run(which)) return of_run(store, records, std::move(*run));
  return of_result(store, which);
}

std::string NamedProgram::task() const {
  if (report) return report->task;
  return run ? run->task : "";
}

std::string NamedProgram::outcome() const {
  if (report) return std::string(name_of(report->outcome));
  return attempt && attempt->judgement ? std::string(name_of(attempt->judgement->outcome)) : "";
}

std::string NamedProgram::gate() const {
  if (report) return report->gate ? std::string(report->gate_name()) : "";
  return attempt && attempt->judgement && attempt->judgement->gate
             ? std::string(name_of(*attempt->judgement->gate))
             : "";
}

std::string NamedProgram::kernel() const {
  return report && !report->kernel_path.empty() ? report->kernel_path : program.origin;
}

}  // namespace kforge
