#include "store/profile_document.h"

#include <algorithm>

#include "store/json_fields.h"

namespace kforge {

void fields(auto&& field, Like<Bandwidth> auto& b) {
  field("level", b.level);
  field("bytes", b.bytes);
  field("read_gb_s", b.read_gb_s);
  field("copy_gb_s", b.copy_gb_s);
}

void fields(auto&& field, Like<Peaks> auto& p) {
  field("fp32_gflops", p.fp32_gflops);
  field("fp64_gflops", p.fp64_gflops);
  field("amx_bf16_gflops", p.amx_bf16_gflops);
  field("bandwidths", p.bandwidths);
  field("measured_at", p.measured_at);
  field("threads", p.threads);
  field("disturbed", p.disturbed);
}

namespace {

using Json = JsonReader::Json;

Json times_json(const std::vector<NamedTime>& times) {
  Json json = Json::array();
  for (const NamedTime& time : times) {
    Json& row = json.emplace_back(Json::array({time.name, time.ns}));
    if (time.interval) row.insert(row.end(), {time.interval->lo, time.interval->hi});
  }
  return json;
}

std::vector<NamedTime> times_from(const JsonReader& r, const char* key) {
  std::vector<NamedTime> times;
  if (!r.has(key)) return times;
  for (const Json& row : r.object().at(key)) {
    const bool known = row.is_array() && row.size() >= 2 && row[0].is_string() &&
                       std::all_of(row.begin() + 1, row.end(), [](const Json& n) { return n.is_number(); });
    if (!known) continue;
    NamedTime& time = times.emplace_back(row[0].get<std::string>(), row[1].get<double>());
    if (row.size() == 4) time.interval = Interval{time.ns, row[2].get<double>(), row[3].get<double>()};
  }
  return times;
}

}  // namespace

std::string profile_document(const Profile& profile) {
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

Result<Profile> profile_from_document(std::string_view document) {
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

std::string setting_document(const MeasuredSetting& setting, const std::string& reference_hash) {
  return dump({{"baselines", times_json(setting.baselines)},
               {"operators", times_json(setting.operators)},
               {"notes", setting.notes},
               {"peaks", json_of(setting.peaks)},
               {"compiler_line", setting.compiler_line},
               {"flag_set", setting.flag_set},
               {"reference", reference_hash},
               {"reference_platform", setting.reference_platform}});
}

Result<MeasuredSetting> setting_from_document(std::string_view document, std::string& reference_hash) {
  Json json = Json::parse(document, nullptr, false);
  std::string problem;
  JsonReader r(json, "", &problem);
  if (!r.has("baselines")) r.complain("baselines", "an array");
  MeasuredSetting setting;
  setting.baselines = times_from(r, "baselines");
  setting.operators = times_from(r, "operators");
  setting.notes = r.texts("notes");
  FieldReader{r}("peaks", setting.peaks);
  setting.compiler_line = r.texts("compiler_line");
  setting.flag_set = r.get_or<std::string>("flag_set", "");
  reference_hash = r.get_or<std::string>("reference", "");
  setting.reference_platform = r.get_or<std::string>("reference_platform", "");
  if (!problem.empty()) return fail("the store's record of the setting cannot be read: {}", problem);
  return setting;
}

}  // namespace kforge
