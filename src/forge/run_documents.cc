#include "forge/run_documents.h"

#include <nlohmann/json.hpp>

namespace kforge {
namespace {

using Json = nlohmann::json;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Runs `read` on the parsed document; whatever it lacks becomes one Error.
template <class T, class Read>
Result<T> parse(std::string_view document, const char* what, Read&& read) {
  try {
    T value;
    read(Json::parse(document), value);
    return value;
  } catch (const Json::exception&) {
    return fail("the store's record of {} cannot be read", what);
  }
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
template <class T>
void read_optional(const Json& json, const char* key, std::optional<T>& value) {
  if (auto found = json.find(key); found != json.end() && !found->is_null()) value = found->template get<T>();
}

Json speedup_json(const std::optional<Speedup>& s) {
  if (!s) return nullptr;
  return {{"value", s->value}, {"lo", s->lo}, {"hi", s->hi}, {"against", s->against}};
}
void read_speedup(const Json& json, const char* key, std::optional<Speedup>& value) {
  auto found = json.find(key);
  if (found == json.end() || found->is_null()) return;
  value = Speedup{found->at("value"), found->at("lo"), found->at("hi"), found->at("against")};
}

}  // namespace

std::string to_document(const Proposal& p) {
  return dump({{"pass", name_of(p.pass)},
               {"parent", p.parent},
               {"rival", p.rival},
               {"inspiration", p.inspiration},
               {"lane", p.lane},
               {"generator", p.generator}});
}

Result<Proposal> proposal_from(std::string_view document) {
  return parse<Proposal>(document, "a plan", [](const Json& json, Proposal& p) {
    p.pass = json.at("pass") == "functional" ? Pass::kFunctional : Pass::kOptimization;
    p.parent = json.at("parent");
    p.rival = json.at("rival");
    p.inspiration = json.at("inspiration");
    p.lane = json.at("lane");
    p.generator = json.at("generator");
  });
}

std::string to_document(const GenerationRecord& r) {
  return dump({{"change", r.change},
               {"extraction", r.extraction},
               {"generator", r.generator},
               {"no_program", r.no_program},
               {"schedule", r.schedule},
               {"story", r.story},
               {"seconds", r.seconds}});
}

Result<GenerationRecord> generation_from(std::string_view document) {
  return parse<GenerationRecord>(document, "a generation", [](const Json& json, GenerationRecord& r) {
    r.change = json.at("change");
    r.extraction = json.at("extraction");
    r.generator = json.at("generator");
    r.no_program = json.at("no_program");
    r.schedule = json.at("schedule");
    r.story = json.at("story");
    r.seconds = json.at("seconds");
  });
}

std::string to_document(const VerdictRecord& r) {
  Json roofline = nullptr;
  if (r.roofline) roofline = {{"bound", r.roofline->bound}, {"fraction", r.roofline->fraction}};
  return dump({{"outcome", r.outcome},
               {"gate", r.gate},
               {"reason", r.reason},
               {"evidence", r.evidence},
               {"time_ns", or_null(r.time_ns)},
               {"speedup", speedup_json(r.speedup)},
               {"over_rival", speedup_json(r.over_rival)},
               {"better", r.better},
               {"accepted", r.accepted},
               {"max_rel_error", or_null(r.max_rel_error)},
               {"roofline", roofline},
               {"thread_use", r.thread_use},
               {"seconds", r.seconds},
               {"tuning", r.tuning},
               {"tuned_candidate", r.tuned_candidate}});
}

Result<VerdictRecord> verdict_from(std::string_view document) {
  return parse<VerdictRecord>(document, "a verdict", [](const Json& json, VerdictRecord& r) {
    r.outcome = json.at("outcome");
    r.gate = json.at("gate");
    r.reason = json.at("reason");
    r.evidence = json.at("evidence");
    read_optional(json, "time_ns", r.time_ns);
    read_speedup(json, "speedup", r.speedup);
    read_speedup(json, "over_rival", r.over_rival);
    r.better = json.at("better");
    r.accepted = json.at("accepted");
    read_optional(json, "max_rel_error", r.max_rel_error);
    if (const Json& roofline = json.at("roofline"); !roofline.is_null())
      r.roofline = Roofline{roofline.at("bound"), roofline.at("fraction")};
    r.thread_use = json.at("thread_use");
    r.seconds = json.at("seconds");
    r.tuning = json.at("tuning");
    r.tuned_candidate = json.at("tuned_candidate");
  });
}

std::string to_document(const Advice& a) {
  return dump({{"bottleneck", a.bottleneck},
               {"evidence", a.evidence},
               {"change", a.change},
               {"expected_gain", a.expected_gain},
               {"confidence", a.confidence},
               {"tag", a.tag},
               {"by", a.by}});
}

Result<Advice> advice_from(std::string_view document) {
  return parse<Advice>(document, "an advice", [](const Json& json, Advice& a) {
    a.bottleneck = json.at("bottleneck");
    a.evidence = json.at("evidence");
    a.change = json.at("change");
    a.expected_gain = json.at("expected_gain");
    a.confidence = json.at("confidence");
    a.tag = json.at("tag");
    a.by = json.at("by");
  });
}

std::string to_document(const Profile& profile) {
  // Everything as bytes: tools print what they like, and CBOR's texts must be UTF-8.
  auto bytes = [](const std::string& text) { return Json::binary({text.begin(), text.end()}); };
  Json facts = Json::array(), texts = Json::array(), pictures = Json::array(), absent = Json::array();
  for (const Fact& f : profile.facts)
    facts.push_back({bytes(f.name), f.value, bytes(f.unit), bytes(f.source)});
  for (const ProfileText& t : profile.texts)
    texts.push_back({bytes(t.title), bytes(t.text), bytes(t.source)});
  for (const ProfilePicture& p : profile.pictures)
    pictures.push_back({bytes(p.title), bytes(p.source), bytes(p.png)});
  for (const std::string& line : profile.absent) absent.push_back(bytes(line));
  std::string out;
  Json::to_cbor({{"facts", facts}, {"texts", texts}, {"pictures", pictures}, {"absent", absent}}, out);
  return out;
}

Result<Profile> profile_from(std::string_view document) {
  auto text = [](const Json& json) {
    const auto& bytes = json.get_binary();
    return std::string(bytes.begin(), bytes.end());
  };
  try {
    Json json = Json::from_cbor(document.begin(), document.end());
    Profile profile;
    for (const Json& f : json.at("facts"))
      profile.facts.push_back({text(f.at(0)), f.at(1), text(f.at(2)), text(f.at(3))});
    for (const Json& t : json.at("texts"))
      profile.texts.push_back({text(t.at(0)), text(t.at(1)), text(t.at(2))});
    for (const Json& p : json.at("pictures"))
      profile.pictures.push_back({text(p.at(0)), text(p.at(1)), text(p.at(2))});
    for (const Json& line : json.at("absent")) profile.absent.push_back(text(line));
    return profile;
  } catch (const Json::exception&) {
    return fail("the store's record of a profile cannot be read");
  }
}

std::string to_document(const SettingRecord& setting) {
  Json baselines = Json::array();
  for (const NamedTime& time : setting.baselines) baselines.push_back({time.name, time.ns});
  return dump({{"baselines", baselines}, {"notes", setting.notes}});
}

Result<SettingRecord> setting_from(std::string_view document) {
  return parse<SettingRecord>(document, "the setting", [](const Json& json, SettingRecord& setting) {
    for (const Json& time : json.at("baselines")) setting.baselines.push_back({time.at(0), time.at(1)});
    setting.notes = json.at("notes");
  });
}

std::string to_document(const ForgeOptions& o) {
  const SessionOptions& s = o.session;
  return dump({{"task", s.task},
               {"platform", s.platform},
               {"precision", s.precision},
               {"shape_set", s.shape_set},
               {"cold", s.cold},
               {"threads", s.threads},
               {"baselines", s.baselines},
               {"python", s.python.string()},
               {"deterministic", s.deterministic},
               {"allow_libraries", s.allow_libraries},
               {"march", s.march},
               {"sandbox", s.sandbox ? Json(static_cast<int>(*s.sandbox)) : Json(nullptr)},
               {"call_limit_seconds", s.call_limit_seconds},
               {"use_build_cache", s.use_build_cache},
               {"generators", o.generators},
               {"analyst", o.analyst},
               {"strategy", o.strategy},
               {"width", o.width},
               {"repairs", o.repairs},
               {"budget", to_text(o.budget)},
               {"target", or_null(o.target)},
               {"patience", o.patience},
               {"reference", o.reference},
               {"from", o.from},
               {"without", o.without},
               {"profilers", o.profilers},
               {"out", o.out.string()},
               {"record", o.record},
               {"config", o.config},
               {"seconds", o.timing_seconds},
               {"rounds", o.timing_rounds}});
}

Result<ForgeOptions> options_from(std::string_view document) {
  std::string budget;
  KF_TRY(ForgeOptions options,
         (parse<ForgeOptions>(document, "the options", [&](const Json& json, ForgeOptions& o) {
           SessionOptions& s = o.session;
           s.task = json.at("task");
           s.platform = json.at("platform");
           s.precision = json.at("precision");
           s.shape_set = json.at("shape_set");
           s.cold = json.at("cold");
           s.threads = json.at("threads");
           s.baselines = json.at("baselines");
           s.python = json.at("python").get<std::string>();
           s.deterministic = json.at("deterministic");
           s.allow_libraries = json.at("allow_libraries");
           s.march = json.at("march");
           if (!json.at("sandbox").is_null())
             s.sandbox = static_cast<SandboxTier>(json.at("sandbox").get<int>());
           s.call_limit_seconds = json.at("call_limit_seconds");
           s.use_build_cache = json.at("use_build_cache");
           o.generators = json.at("generators");
           o.analyst = json.at("analyst");
           o.strategy = json.at("strategy");
           o.width = json.at("width");
           o.repairs = json.at("repairs");
           budget = json.at("budget");
           read_optional(json, "target", o.target);
           o.patience = json.at("patience");
           o.reference = json.at("reference");
           o.from = json.at("from");
           o.without = json.at("without");
           o.profilers = json.at("profilers");
           o.out = json.at("out").get<std::string>();
           o.record = json.at("record");
           o.config = json.at("config");
           o.timing_seconds = json.at("seconds");
           o.timing_rounds = json.at("rounds");
         })));
  if (!budget.empty()) {
    KF_TRY(options.budget, parse_budget(budget));
  }
  return options;
}

}  // namespace kforge
