// The attempts of runs, stage by stage, and the profiles that explained them.
#include "store/attempt_fields.h"
#include "store/profile_document.h"
#include "store/runs.h"

namespace kforge {
namespace {

using Lock = std::lock_guard<std::mutex>;

constexpr int kSetting = -1;  // the "attempt" under which the setting is recorded

}  // namespace

Result<void> RunRecords::save_program(const Candidate& program) {
  return store_.save_candidate({program.content_hash(), program.origin, program.files});
}

Result<std::optional<Candidate>> RunRecords::load_program(std::string_view hash) {
  if (hash.empty()) return std::nullopt;
  KF_TRY(StoredCandidate stored, store_.candidate(hash));
  return Candidate{stored.files, stored.origin};
}

Result<void> RunRecords::save_proposal(std::string_view run, const Attempt& attempt) {
  Lock lock(mutex_);
  KF_TRY(auto insert, database_.prepare("INSERT INTO attempt(run, number, plan) VALUES (?,?,?)"));
  return written(
      insert.bind(run).bind(std::int64_t{attempt.number}).bind(to_document(attempt.proposal)).run());
}

Result<void> RunRecords::change_proposal(std::string_view run, const Attempt& attempt) {
  Lock lock(mutex_);
  KF_TRY(auto update, database_.prepare("UPDATE attempt SET plan = ? WHERE run = ? AND number = ?"));
  return written(
      update.bind(to_document(attempt.proposal)).bind(run).bind(std::int64_t{attempt.number}).run());
}

Result<void> RunRecords::save_advice(std::string_view run, const Attempt& attempt) {
  Lock lock(mutex_);
  const Advice& advice = *attempt.advice;
  KF_TRY(
      auto insert,
      database_.prepare("INSERT OR REPLACE INTO advice(run, attempt, tag, made_by, expected_gain, document) "
                        "VALUES (?,?,?,?,?,?)"));
  insert.bind(run).bind(std::int64_t{attempt.number}).bind(advice.tag).bind(advice.by);
  return written(insert.bind(advice.expected_gain).bind(to_document(advice)).run());
}

Result<void> RunRecords::save_generation(std::string_view run, const Attempt& attempt) {
  Lock lock(mutex_);
  const Generation& made = *attempt.generation;
  StoredGeneration stored{made, made.program ? "" : reason_text(made.program.error())};
  std::string hash;
  if (made.program) {
    hash = made.program->content_hash();
    KF_TRY_VOID(save_program(*made.program));
  }
  KF_TRY(auto update,
         database_.prepare("UPDATE attempt SET generation = ?, candidate = ? WHERE run = ? AND number = ?"));
  update.bind(to_document(stored)).bind(null_if_empty(hash));
  return written(update.bind(run).bind(std::int64_t{attempt.number}).run());
}

Result<void> RunRecords::save_judgement(std::string_view run, const Attempt& attempt) {
  Lock lock(mutex_);
  const AttemptJudgement& found = *attempt.judgement;
  StoredJudgement stored{found, found.tuned ? found.tuned->content_hash() : ""};
  if (found.tuned) KF_TRY_VOID(save_program(*found.tuned));
  KF_TRY(auto update,
         database_.prepare("UPDATE attempt SET judgement = ?, decision = ?, result = ?, clock = ? "
                           "WHERE run = ? AND number = ?"));
  update.bind(to_document(stored)).bind(to_document(*attempt.decision)).bind(null_if_empty(found.result));
  KF_TRY_VOID(written(update.bind(found.clock).bind(run).bind(std::int64_t{attempt.number}).run()));
  if (!attempt.advice) return {};
  // What the advice promised is held against what was measured only where it was followed.
  std::optional<std::int64_t> followed;
  if (attempt.generation && attempt.generation->followed_advice)
    followed = *attempt.generation->followed_advice;
  std::optional<double> gain;
  if (const Speedup* measured = attempt.gain_of_advice()) gain = measured->value;
  KF_TRY(auto advice, database_.prepare(
                          "UPDATE advice SET followed = ?, measured_gain = ? WHERE run = ? AND attempt = ?"));
  return advice.bind(followed).bind(gain).bind(run).bind(std::int64_t{attempt.number}).run();
}

Result<std::vector<Attempt>> RunRecords::attempts(std::string_view run) {
  Lock lock(mutex_);
  KF_TRY(
      auto query,
      database_.prepare(
          "SELECT number, plan, generation, attempt.candidate, judgement, decision, result, clock, document "
          "FROM attempt LEFT JOIN advice ON advice.run = attempt.run AND advice.attempt = number "
          "WHERE attempt.run = ? ORDER BY number"));
  query.bind(run);
  std::vector<Attempt> attempts;
  for (;;) {
    KF_TRY(bool more, query.step());
    if (!more) return attempts;
    Attempt& attempt = attempts.emplace_back();
    attempt.number = static_cast<int>(query.integer(0));
    KF_TRY(attempt.proposal, from_document<Proposal>(query.text(1), "a proposal"));
    if (!query.is_null(8)) {
      KF_TRY(attempt.advice, from_document<Advice>(query.text(8), "an advice"));
    }
    if (!query.is_null(2)) {
      KF_TRY(StoredGeneration stored, from_document<StoredGeneration>(query.text(2), "a generation"));
      attempt.generation = std::move(stored.generation);
      KF_TRY(auto program, load_program(query.text(3)));
      if (program)
        attempt.generation->program = std::move(*program);
      else
        attempt.generation->program = std::unexpected(Failure(NoProgram{stored.no_program}));
    }
    if (query.is_null(4)) continue;
    KF_TRY(StoredJudgement stored, from_document<StoredJudgement>(query.text(4), "a judgement"));
    attempt.judgement = std::move(stored.judgement);
    KF_TRY(attempt.judgement->tuned, load_program(stored.tuned_candidate));
    attempt.judgement->result = query.text(6);
    attempt.judgement->clock = query.real(7);
    KF_TRY(attempt.decision, from_document<Decision>(query.text(5), "a decision"));
  }
}

Result<StoredCandidate> RunRecords::candidate(std::string_view hash) {
  Lock lock(mutex_);
  return store_.candidate(hash);
}

Result<void> RunRecords::save_document(std::string_view run, int attempt, std::string_view document) {
  Lock lock(mutex_);
  KF_TRY(std::string hash, store_.save_artefact(document));
  KF_TRY(auto insert, database_.prepare("INSERT OR REPLACE INTO profile VALUES (?,?,?)"));
  return written(insert.bind(run).bind(std::int64_t{attempt}).bind(hash).run());
}

Result<std::optional<std::string>> RunRecords::document(std::string_view run, int attempt) {
  Lock lock(mutex_);
  KF_TRY(auto query, database_.prepare("SELECT artefact FROM profile WHERE run = ? AND attempt = ?"));
  KF_TRY(bool found, query.bind(run).bind(std::int64_t{attempt}).step());
  if (!found) return std::nullopt;
  KF_TRY(std::string document, store_.load_artefact(query.text(0)));
  return document;
}

Result<void> RunRecords::save_profile(std::string_view run, int attempt, const Profile& profile) {
  return save_document(run, attempt, profile_document(profile));
}

Result<std::optional<Profile>> RunRecords::profile(std::string_view run, int attempt) {
  KF_TRY(auto found, document(run, attempt));
  if (!found) return std::nullopt;
  KF_TRY(Profile profile, profile_from_document(*found));
  return profile;
}

Result<void> RunRecords::save_setting(std::string_view run, const MeasuredSetting& setting) {
  std::string reference;
  if (setting.reference) {
    Lock lock(mutex_);
    reference = setting.reference->content_hash();
    KF_TRY_VOID(save_program(*setting.reference));
  }
  return save_document(run, kSetting, setting_document(setting, reference));
}

Result<std::optional<MeasuredSetting>> RunRecords::setting(std::string_view run) {
  KF_TRY(auto found, document(run, kSetting));
  if (!found) return std::nullopt;
  std::string reference;
  KF_TRY(MeasuredSetting setting, setting_from_document(*found, reference));
  Lock lock(mutex_);
  KF_TRY(setting.reference, load_program(reference));
  return setting;
}

}  // namespace kforge
