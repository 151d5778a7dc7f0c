#include "forge/run_documents.h"

#include "store/json_parts.h"

namespace kforge {
namespace {

using Json = JsonReader::Json;

// Runs `read` on the parsed document; whatever it lacks becomes one Error.
template <class T, class Read>
Result<T> parse(std::string_view document, const char* what, Read&& read) {
  Json json = Json::parse(document, nullptr, false);
  std::string problem;
  T value{};
  read(JsonReader(json, "", &problem), value);
  if (problem.empty()) return value;
  return fail("the store's record of {} cannot be read: {}", what, problem);
}

void read_number(const JsonReader& r, const char* key, std::optional<double>& value) {
  if (r.has(key)) value = r.get<double>(key);
}

std::set<std::string> set_of(const std::vector<std::string>& words) { return {words.begin(), words.end()}; }

Json times_json(const std::vector<NamedTime>& times) {
  return array_json(times, [](const NamedTime& time) { return Json::array({time.name, time.ns}); });
}
void read_times(const JsonReader& r, const char* key, std::vector<NamedTime>& times) {
  if (!r.has(key)) return;
  for (const Json& pair : r.object().at(key))
    if (pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_number())
      times.push_back({pair[0].get<std::string>(), pair[1].get<double>()});
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
  return parse<Proposal>(document, "a plan", [](const JsonReader& r, Proposal& p) {
    p.pass = r.get<std::string>("pass") == "functional" ? Pass::kFunctional : Pass::kOptimization;
    p.parent = r.get<int>("parent");
    p.rival = r.get<int>("rival");
    p.inspiration = r.get<int>("inspiration");
    p.lane = r.get<int>("lane");
    p.generator = r.get<int>("generator");
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
  return parse<GenerationRecord>(document, "a generation", [](const JsonReader& r, GenerationRecord& g) {
    g.change = r.get<std::string>("change");
    g.extraction = r.get<std::string>("extraction");
    g.generator = r.get<std::string>("generator");
    g.no_program = r.get<std::string>("no_program");
    g.schedule = r.get<std::string>("schedule");
    g.story = r.get<std::string>("story");
    g.seconds = r.get<double>("seconds");
  });
}

std::string to_document(const VerdictRecord& v) {
  return dump({{"outcome", v.outcome},
               {"gate", v.gate},
               {"reason", v.reason},
               {"evidence", v.evidence},
               {"time_ns", or_null(v.time_ns)},
               {"modelled_ns", or_null(v.modelled_ns)},
               {"speedup", optional_json(v.speedup, speedup_json)},
               {"over_rival", optional_json(v.over_rival, speedup_json)},
               {"better", v.better},
               {"accepted", v.accepted},
               {"max_rel_error", or_null(v.max_rel_error)},
               {"roofline", optional_json(v.roofline, roofline_json)},
               {"thread_use", v.thread_use},
               {"seconds", v.seconds},
               {"tuning", v.tuning},
               {"tuned_candidate", v.tuned_candidate}});
}

Result<VerdictRecord> verdict_from(std::string_view document) {
  return parse<VerdictRecord>(document, "a verdict", [](const JsonReader& r, VerdictRecord& v) {
    v.outcome = r.get<std::string>("outcome");
    v.gate = r.get<std::string>("gate");
    v.reason = r.get<std::string>("reason");
    v.evidence = r.get<std::string>("evidence");
    read_number(r, "time_ns", v.time_ns);
    read_number(r, "modelled_ns", v.modelled_ns);
    v.speedup = r.optional("speedup", read_speedup);
    v.over_rival = r.optional("over_rival", read_speedup);
    v.better = r.get<bool>("better");
    v.accepted = r.get<bool>("accepted");
    read_number(r, "max_rel_error", v.max_rel_error);
    v.roofline = r.optional("roofline", read_roofline);
    v.thread_use = r.get<double>("thread_use");
    v.seconds = r.get<double>("seconds");
    v.tuning = r.get<std::string>("tuning");
    v.tuned_candidate = r.get<std::string>("tuned_candidate");
  });
}

std::string to_document(const Advice& advice) { return dump(advice_json(advice)); }

Result<Advice> advice_from(std::string_view document) {
  return parse<Advice>(document, "an advice", [](const JsonReader& r, Advice& a) { a = read_advice(r); });
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
  return dump({{"baselines", times_json(setting.baselines)},
               {"operators", times_json(setting.operators)},
               {"notes", setting.notes}});
}

Result<SettingRecord> setting_from(std::string_view document) {
  return parse<SettingRecord>(document, "the setting", [](const JsonReader& r, SettingRecord& setting) {
    if (!r.has("baselines")) r.get<std::string>("baselines");  // told as missing
    read_times(r, "baselines", setting.baselines);
    read_times(r, "operators", setting.operators);
    setting.notes = r.texts("notes");
  });
}

std::string to_document(const ForgeOptions& o) {
  const JudgeOptions& s = o.session;
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
         (parse<ForgeOptions>(document, "the options", [&](const JsonReader& r, ForgeOptions& o) {
           auto text = [&](const char* key) { return r.get<std::string>(key); };
           JudgeOptions& s = o.session;
           s.task = text("task");
           s.platform = text("platform");
           s.precision = text("precision");
           s.shape_set = text("shape_set");
           s.cold = r.get<bool>("cold");
           s.threads = r.get<int>("threads");
           s.baselines = r.texts("baselines");
           s.python = text("python");
           s.deterministic = r.get<bool>("deterministic");
           s.allow_libraries = r.get<bool>("allow_libraries");
           s.march = text("march");
           if (r.has("sandbox")) s.sandbox = static_cast<SandboxTier>(r.get<int>("sandbox"));
           s.call_limit_seconds = r.get<double>("call_limit_seconds");
           s.use_build_cache = r.get<bool>("use_build_cache");
           o.generators = r.texts("generators");
           o.analyst = text("analyst");
           o.strategy = text("strategy");
           o.width = r.get<int>("width");
           o.repairs = r.get<int>("repairs");
           budget = text("budget");
           read_number(r, "target", o.target);
           o.patience = r.get<int>("patience");
           o.reference = text("reference");
           o.from = text("from");
           o.without = set_of(r.texts("without"));
           o.profilers = set_of(r.texts("profilers"));
           o.out = text("out");
           o.record = text("record");
           o.config = text("config");
           o.timing_seconds = r.get<double>("seconds");
           o.timing_rounds = r.get<int>("rounds");
         })));
  if (!budget.empty()) {
    KF_TRY(options.budget, parse_budget(budget));
  }
  return options;
}

}  // namespace kforge
