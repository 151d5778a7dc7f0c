// How the stages of an attempt lie in the store. Programs are kept apart, by their hash.
#pragma once

#include "store/json_fields.h"

namespace kforge {

void fields(auto&& field, Like<Proposal> auto& p) {
  field("pass", p.pass);
  field("parent", p.parent);
  field("rival", p.rival);
  field("inspiration", p.inspiration);
  field("lane", p.lane);
  field("generator", p.generator);
  field.added("sibling", p.sibling);
  field.added("siblings", p.siblings);
  field("known", p.known);
}

struct StoredGeneration {
  Generation generation;   // without its program
  std::string no_program;  // why there is none; empty when there is one
};
void fields(auto&& field, Like<StoredGeneration> auto& s) {
  auto& g = s.generation;
  field("change", g.change);
  field("status", g.status);
  field("generator", g.generator);
  field("no_program", s.no_program);
  field("followed_advice", g.followed_advice);
  field("remarks", g.remarks);
  field("schedule", g.schedule);
  field("rationale", g.rationale);
  field("seconds", g.seconds);
}

struct StoredJudgement {
  AttemptJudgement judgement;   // without `tuned`, and without result and clock, which are columns
  std::string tuned_candidate;  // hash; empty: it had no tunables
};
void fields(auto&& field, Like<StoredJudgement> auto& s) {
  auto& j = s.judgement;
  field("outcome", j.outcome);
  field("gate", j.gate);
  field("reason", j.reason);
  field("evidence", j.evidence);
  field("time_ns", j.time_ns);
  field("modelled_ns", j.modelled_ns);
  field("speedup", j.speedup);
  field("baseline_ns", j.baseline_ns);
  field("over_rival", j.over_rival);
  field("over_best", j.over_best);
  field("max_rel_error", j.max_rel_error);
  field("roofline_fraction", j.roofline_fraction);
  field("thread_use", j.thread_use);
  field("seconds", j.seconds);
  field("tuning", j.tuning);
  field("tuned_candidate", s.tuned_candidate);
}

void fields(auto&& field, Like<Decision> auto& d) {
  field("better", d.better);
  field("accepted", d.accepted);
}

}  // namespace kforge
