// Tasks: the list, and one with its graph and the header that its kernels include. By name only: a task of
// the user's own is a path, and no path comes from an address.
#include "base/readable.h"
#include "report/highlight.h"
#include "report/page_room.h"
#include "serve/page.h"
#include "serve/site.h"

namespace kforge::serve {
namespace {

constexpr double kTasksKept = 60;
constexpr std::size_t kTaskSourceBytes = 200'000;

std::string suite_of_task(const std::string& name) { return name.substr(0, name.find('/')); }

Cell number(const Json& value, std::string text) { return {std::move(text), "", "", value.get<double>()}; }

Row row_of_task(const Json& task) {
  const std::string name = task.value("name", "");
  return {{{name, "/tasks/" + address_word(name)},
           {task.value("description", "")},
           number(task["flops"], readable_count(task.value("flops", 0.0))),
           number(task["bytes"], readable_bytes(task.value("bytes", 0.0))),
           number(task["intensity"], fmt::format("{:.1f}", task.value("intensity", 0.0))),
           {task.value("origin", "")}},
          task};
}

}  // namespace

Answer tasks_page(const Asked& asked, Site& site) {
  auto document = site.documents.get({"tasks"}, kTasksKept);
  if (!document) return refusal(asked, 500, document.error().message, document.error().remedy);
  ListView view{.section = "tasks", .title = "Tasks", .schema = "kforge.tasks/1", .records = "tasks"};
  view.about = "What kernels can be written for; figures are of the shape set bench.";
  view.columns = {{"task", "task"},
                  {"what it computes"},
                  {"flops", "flops", true, true},
                  {"bytes", "bytes", true, true},
                  {"flop/byte", "intensity", true, true},
                  {"follows"}};
  view.choices = {{"suite", "Suite", {}}};
  view.empty = "Nothing fits.";
  const std::string wanted = asked.asked("suite");
  for (const Json& task : (*document)["tasks"]) {
    const std::string suite = suite_of_task(task.value("name", ""));
    auto& suites = view.choices[0].words;
    if (std::ranges::find(suites, suite) == suites.end()) suites.push_back(suite);
    if (wanted.empty() || suite == wanted) view.rows.push_back(row_of_task(task));
  }
  return list_page(asked, std::move(view));
}

Answer task_page(const Asked& asked, Site& site) {
  const std::string& name = asked.parts[0];
  auto all = site.documents.get({"tasks"}, kTasksKept);
  if (!all) return refusal(asked, 500, all.error().message, all.error().remedy);
  const bool known =
      std::ranges::any_of((*all)["tasks"], [&](const Json& task) { return task.value("name", "") == name; });
  if (!known) return refusal(asked, 404, "There is no such task", "The list of tasks has the names.");
  auto document = site.documents.get({"tasks", "show", name}, kTasksKept);
  if (!document) return not_found(asked, document.error());
  if (asked.json) return json_answer(*document);
  const Json& task = *document;
  PageData data;
  add_frame(data, asked, name, "tasks");
  data.text("task", name)
      .text("task_address", address_word(name))
      .text("description", task.value("description", ""));
  data.text("origin", task.value("origin", "")).text("hash", task.value("hash", ""));
  data.text("flops", readable_count(task.value("flops", 0.0)))
      .text("bytes", readable_bytes(task.value("bytes", 0.0)));
  std::string dims;
  for (const auto& [dim, size] : task["dims"].items())
    dims += fmt::format("{}{} = {}", dims.empty() ? "" : ", ", dim, size.dump());
  data.text("dims", dims).rows("arguments").rows("notes");
  for (const Json& argument : task["arguments"])
    data.row("arguments", PageData()
                              .text("argument", argument.value("name", ""))
                              .text("role", argument.value("role", ""))
                              .text("dtype", argument.value("dtype", ""))
                              .text("shape", argument["shape"].dump()));
  for (const Json& note : task["notes"]) data.row("notes", PageData().text("line", note.get<std::string>()));
  data.markup("graph", highlighted(task.value("graph", ""), "//", kTaskSourceBytes));
  data.markup("header", highlighted(task.value("task_h", ""), "//", kTaskSourceBytes));
  return page(asked, "task", data);
}

}  // namespace kforge::serve
