#include "export/provenance.h"

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"

namespace kforge {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& interval) {
  if (!interval) return nullptr;
  return {{"value", interval->value}, {"lo", interval->lo}, {"hi", interval->hi}};
}

Json tensor_json(const BoundArgument& argument) {
  return {{"name", argument.name},
          {"c_name", argument.c_name},
          {"role", name_of(argument.role)},
          {"dtype", name_of(argument.dtype)},
          {"shape", argument.shape}};
}

Json reproduce(const Exportable& exported, const std::string& folder) {
  const EvalReport& report = exported.report;
  std::string task = report.task_path.empty() ? report.task : report.task_path;
  std::string judge = fmt::format(
      "kforge eval {} --kernel {} --on {} --precision {} --shapes {}", shell_quoted(task),
      exported.program.files.size() == 1 ? shell_quoted(folder + "/" + exported.program.files[0].name)
                                         : shell_quoted(folder),
      shell_quoted(report.platform), report.precision, report.shape_set);
  for (const std::string& dims : report.set) judge += " --set " + shell_quoted(dims);
  return {{"same_store", fmt::format("kforge recheck {}", report.result_id)}, {"anywhere", judge}};
}

}  // namespace

std::string verdict_sentence(const EvalReport& report) {
  std::string text =
      fmt::format("Verified on {} under the precision policy {}", report.device.name, report.precision);
  if (report.speedup)
    text += fmt::format(": {:.2f}x [{:.2f}, {:.2f}] over {}", report.speedup->value, report.speedup->lo,
                        report.speedup->hi, report.speedup->against);
  return text + ".";
}

std::string provenance_json(const Exportable& exported, const std::string& as, const std::string& name,
                            const std::string& kernel_folder) {
  const EvalReport& report = exported.report;
  Json files = Json::object(), tensors = Json::array(), gates = Json::array();
  for (const SourceFile& file : exported.program.files) files[file.name] = sha256_hex(file.content);
  for (const BoundArgument& argument : exported.task().arguments) tensors.push_back(tensor_json(argument));
  for (const GateResult& gate : report.gates)
    gates.push_back(
        {{"name", name_of(gate.gate)}, {"state", name_of(gate.state)}, {"summary", gate.summary}});
  auto text_or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  Json document = {
      {"schema", "kforge.export/1"},
      {"name", name},
      {"form", as},
      {"exported_at", utc_now()},
      {"kforge_version", report.kforge_version},
      {"result", report.result_id},
      {"run", text_or_null(exported.run)},
      {"judged_at", report.created_at},
      {"task",
       {{"name", report.task},
        {"origin", text_or_null(exported.setup->task.origin)},
        {"hash", report.task_hash},
        {"shape_set", report.shape_set},
        {"dims", exported.task().shape_case.dims},
        {"tensors", tensors}}},
      {"kernel", {{"hash", report.kernel_hash}, {"origin", exported.program.origin}, {"files", files}}},
      {"platform", {{"name", exported.setup->platform.name}, {"hash", report.platform_hash}}},
      {"device", report.device.name},
      {"machine", report.machine_text},
      {"build",
       {{"command", report.build->command}, {"march", report.build->march}, {"needs", exported.needs}}},
      {"precision", report.precision},
      {"arithmetic", text_or_null(report.arithmetic)},
      {"verdict", verdict_sentence(report)},
      {"caveats", caveats_of(report)},
      {"time_ns", or_null(report.time_ns)},
      {"speedup", or_null(report.speedup)},
      {"speedup_against", report.speedup ? Json(report.speedup->against) : Json(nullptr)},
      {"flags", report.flags},
      {"gates", gates},
      {"sandbox", report.sandbox},
      {"reproduce", reproduce(exported, kernel_folder)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string export_readme(const Exportable& exported, const std::string& name, const std::string& usage,
                          const std::string& kernel_folder) {
  const EvalReport& report = exported.report;
  std::string text = fmt::format(
      "# {}\n\n{}\n\n{} Sizes: {}.\n", name, exported.setup->task.description, verdict_sentence(report),
      dims_text(exported.task().shape_case.dims).empty() ? "those of the graph"
                                                         : dims_text(exported.task().shape_case.dims));
  std::vector<std::string> caveats = caveats_of(report);
  if (!caveats.empty()) text += "\nRead with it:\n\n";
  for (const std::string& caveat : caveats) text += fmt::format("- {}\n", caveat);
  text += "\n" + usage;
  text += fmt::format(
      "\n## Where it comes from\n\nKForge's result `{}` for the task `{}`. "
      "[provenance.json](provenance.json) has the "
      "hashes of task, kernel and platform, the compiler's line, every gate, and the commands that judge it "
      "again:\n\n"
      "    {}\n    {}\n",
      report.result_id, report.task, reproduce(exported, kernel_folder)["same_store"].get<std::string>(),
      reproduce(exported, kernel_folder)["anywhere"].get<std::string>());
  return text;
}

}  // namespace kforge
