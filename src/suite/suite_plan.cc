#include "suite/suite_plan.h"

#include <algorithm>
#include <cctype>

#include "base/hash.h"
#include "store/json_fields.h"

namespace kforge {

void fields(auto&& field, Like<SuiteTask> auto& t) {
  field("name", t.name);
  field("spec", t.spec);
}
void fields(auto&& field, Like<SuiteVariant> auto& v) {
  field("name", v.name);
  field("arguments", v.arguments);
}
void fields(auto&& field, Like<SuitePlan> auto& p) {
  field("id", p.id);
  field("created_at", p.created_at);
  field("name", p.name);
  field("tasks", p.tasks);
  field("platforms", p.platforms);
  field("variants", p.variants);
  field("arguments", p.arguments);
  field("kernels", p.kernels);
  field("working_folder", p.working_folder);
  field("limit_seconds", p.limit_seconds);
}

namespace {

// A platform may be a path.
std::string file_name_of(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.' && c != ' ') c = '_';
  return text;
}

}  // namespace

std::string SuitePlan::key() const {
  SuitePlan same = *this;
  same.id.clear();
  same.created_at.clear();
  same.working_folder.clear();  // the same command from elsewhere goes on where it was begun
  return sha256_hex(to_document(same));
}

std::string SuiteItem::path() const {
  std::string top = platform + (variant.name.empty() ? "" : " " + variant.name);
  return file_name_of(std::move(top)) + "/" + task.name;
}

std::vector<SuiteItem> items_of(const SuitePlan& plan) {
  std::vector<SuiteItem> items;
  for (const SuiteTask& task : plan.tasks)
    for (const std::string& platform : plan.platforms)
      for (const SuiteVariant& variant : plan.variants) items.push_back({task, platform, variant});
  return items;
}

std::string to_json(const SuitePlan& plan) {
  JsonReader::Json json = {{"schema", "kforge.suite_plan/1"}};
  json.update(json_of(plan));
  return dump(json, 1);
}

Result<SuitePlan> suite_plan_from_json(std::string_view text) {
  KF_TRY(SuitePlan plan, from_document<SuitePlan>(text, "a suite"));
  if (plan.tasks.empty() || plan.platforms.empty() || plan.variants.empty())
    return fail("the record of a suite names no task, platform or variant");
  return plan;
}

}  // namespace kforge
