// The forms that start a search or an evaluation, and what becomes of them. Every word of a form is one of
// those the page offers, a number, or one word of the command line that cannot be another option.
#include <fmt/ranges.h>
#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "report/page_room.h"
#include "serve/page.h"
#include "serve/site.h"

namespace kforge::serve {
namespace {

constexpr double kListsKept = 60;
const std::vector<std::string> kPrecisions = {"fp32", "high", "bf16", "fp16"};

struct Offered {
  std::vector<std::string> tasks, platforms;
  std::vector<std::string> devices;  // platforms whose programs have a plan.json

  bool has_plan(const std::string& platform) const {
    return std::ranges::find(devices, platform) != devices.end();
  }
};

Result<Offered> offered(Site& site) {
  Offered all;
  KF_TRY(Json tasks, site.documents.get({"tasks"}, kListsKept));
  for (const Json& task : tasks["tasks"]) all.tasks.push_back(task.value("name", ""));
  KF_TRY(Json platforms, site.documents.get({"platforms"}, 2 * kListsKept));
  for (const Json& platform : platforms["platforms"])
    if (platform.value("state", "") != "broken") {
      all.platforms.push_back(platform.value("name", ""));
      if (platform.value("kind", "") == "device") all.devices.push_back(all.platforms.back());
    }
  return all;
}

Result<std::string> one_of(const Asked& asked, const char* field, const std::vector<std::string>& words) {
  const std::string value = asked.field(field);
  if (std::ranges::find(words, value) != words.end()) return value;
  return fail("{} cannot be \"{}\"", field, short_line(value, 60));
}

// A whole number within limits; nothing where the field is empty.
Result<std::optional<int>> whole(const Asked& asked, const char* field, int least, int most) {
  const std::string text = asked.field(field);
  if (text.empty()) return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    return fail("{} must be a whole number from {} to {}", field, least, most);
  return value;
}

Result<std::string> plain(const Asked& asked, const char* field, std::size_t most) {
  const std::string value = asked.field(field);
  const bool safe = std::ranges::all_of(value, [](char c) { return c > ' ' && c < 0x7f; });
  if (!safe || value.size() > most || value.starts_with('-'))
    return fail("{} must be one word of at most {} letters", field, most);
  return value;
}

Result<void> add_forge(const Asked& asked, JobOrder& order) {
  KF_TRY(auto seconds, whole(asked, "budget_s", 1, 86'400));
  KF_TRY(auto attempts, whole(asked, "attempts", 1, 10'000));
  KF_TRY(std::string generator, plain(asked, "generator", 200));
  if (seconds) order.arguments.push_back(fmt::format("--budget={}s", *seconds));
  if (attempts) order.arguments.push_back(fmt::format("--attempts={}", *attempts));
  if (!generator.empty()) order.arguments.push_back("--generator=" + generator);
  return {};
}

// What was chosen as a file, or else pasted.
std::string text_or_file(const Asked& asked, const char* text, const char* file) {
  return asked.field(file).empty() ? asked.field(text) : asked.field(file);
}

Result<void> add_eval(const Asked& asked, Site& site, bool has_plan, JobOrder& order) {
  order.kernel = text_or_file(asked, "kernel", "file");
  order.plan = text_or_file(asked, "plan", "plan_file");
  if (order.kernel.empty()) return fail("an evaluation needs a kernel: paste it, or choose its file");
  if (has_plan && trimmed(order.plan).empty())
    return fail("a program for {} needs its plan.json too: paste it, or choose its file", order.platform);
  if (!has_plan) order.plan.clear();  // left from another choice
  if (!asked.field("check").empty()) order.arguments.emplace_back("--check");
  // What its file must be called.
  KF_TRY(Json contract, site.documents.get({"contract", order.task, "--on=" + order.platform}, kListsKept));
  order.kernel_file = contract.value("kernel_file", "kernel.cc");
  if (order.kernel_file.empty() || order.kernel_file.find('/') != std::string::npos)
    return fail("kernels for {} cannot be given in one file", order.platform);
  return {};
}

Result<JobOrder> order_from(const Asked& asked, Site& site) {
  KF_TRY(Offered all, offered(site));
  JobOrder order;
  KF_TRY(order.kind, one_of(asked, "kind", {"forge", "eval"}));
  KF_TRY(order.task, one_of(asked, "task", all.tasks));
  KF_TRY(order.platform, one_of(asked, "platform", all.platforms));
  KF_TRY(std::string shapes, plain(asked, "shapes", 40));
  KF_TRY(std::string baseline, plain(asked, "baseline", 40));
  if (!asked.field("precision").empty()) {
    KF_TRY(std::string precision, one_of(asked, "precision", kPrecisions));
    order.arguments.push_back("--precision=" + precision);
  }
  if (!shapes.empty()) order.arguments.push_back("--shapes=" + shapes);
  // A file of this machine is no business of a form.
  if (baseline.find_first_of("=/") != std::string::npos)
    return fail("baseline must be the name of a library, or none");
  if (!baseline.empty()) order.arguments.push_back("--baseline=" + baseline);
  if (order.kind == "forge") {
    KF_TRY_VOID(add_forge(asked, order));
  } else {
    KF_TRY_VOID(add_eval(asked, site, all.has_plan(order.platform), order));
  }
  return order;
}

void add_words(PageData& data, const char* list, const std::vector<std::string>& words,
               const std::string& chosen) {
  data.rows(list);
  for (const std::string& word : words)
    data.row(list, PageData().text("word", word).text("chosen", word == chosen ? "yes" : ""));
}

}  // namespace

Answer start_page(const Asked& asked, Site& site) {
  if (!site.jobs)
    return refusal(asked, 404, "Nothing is started from here", "The server was started with --read-only.");
  auto all = offered(site);
  if (!all) return refusal(asked, 500, all.error().message, all.error().remedy);
  if (asked.json)
    return json_answer(Json{{"schema", "kforge.start/1"},
                            {"tasks", all->tasks},
                            {"platforms", all->platforms},
                            {"platforms_with_plan", all->devices},
                            {"precisions", kPrecisions}});
  const std::string platform = asked.asked("platform").empty() ? "cpu" : asked.asked("platform");
  PageData data;
  add_frame(data, asked, "Start", "start");
  add_words(data, "tasks", all->tasks, "");
  data.text("task", asked.asked("task"));
  add_words(data, "platforms", all->platforms, platform);
  add_words(data, "precisions", kPrecisions, "fp32");
  data.text("devices", fmt::format("{}", fmt::join(all->devices, ", ")));
  return page(asked, "start", data);
}

Answer start_job(const Asked& asked, Site& site) {
  if (!site.jobs)
    return refusal(asked, 403, "Nothing is started from here", "The server was started with --read-only.");
  auto order = order_from(asked, site);
  if (!order) return refusal(asked, 400, order.error().message, order.error().remedy);
  auto id = site.jobs->start(*order);
  if (!id) return refusal(asked, 429, id.error().message, id.error().remedy);
  if (!asked.json) return go_to("/jobs/" + *id);
  Answer answer = json_answer(Json{{"schema", "kforge.job/1"}, {"id", *id}, {"state", "running"}});
  answer.status = 201;
  return answer;
}

}  // namespace kforge::serve
