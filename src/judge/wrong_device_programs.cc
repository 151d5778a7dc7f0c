#include "judge/wrong_device_programs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"

namespace kforge {
namespace {

using Json = nlohmann::json;

Result<Json> plan_of_example(const Candidate& example) {
  Json plan = example.plan() ? Json::parse(example.plan()->content, nullptr, false) : Json();
  if (!plan.is_object() || !plan.contains("run") || !plan["run"].is_array())
    return fail("the example's {} has no list 'run'", kPlanFile);
  plan.erase("general");
  return plan;
}

Candidate with_plan(const Candidate& example, const Json& plan) {
  Candidate changed = example;
  for (SourceFile& file : changed.files)
    if (file.name == kPlanFile) file.content = plan.dump(1);
  // What must fail is judged on one shape; the example itself has shown that it is general.
  std::string& source = changed.files.front().content;
  if (const std::size_t at = source.find("kforge: general"); at != std::string::npos)
    source.replace(at, 15, "kforge general:");
  changed.origin = "platforms check";
  return changed;
}

// "$INPUT" and "$OUTPUT" wherever they stand.
void name_tensors(Json& json, const BoundTask& task) {
  if (json.is_string()) {
    if (json == "$INPUT") json = task.arguments.front().c_name;
    if (json == "$OUTPUT") json = task.arguments.back().c_name;
    return;
  }
  if (!json.is_structured()) return;
  for (Json& part : json) name_tensors(part, task);
}

void append(Json& steps, const Json& further) { steps.insert(steps.end(), further.begin(), further.end()); }

Result<void> add_plans(const fs::path& file, const Candidate& example, const BoundTask& task,
                       std::vector<WrongProgram>& programs) {
  KF_TRY(std::string text, read_file(file, kLargestWrongProgram));
  Json rows = Json::parse(text, nullptr, false);
  if (!rows.is_array()) return fail("{} is not a list", file.string());
  for (Json& row : rows) {
    WrongProgram program;
    program.name = row.at("name");
    program.what = row.at("what");
    KF_TRY_VOID(read_expectation(program.name, row.at("expect").get<std::string>(), program));
    name_tensors(row, task);
    KF_TRY(Json plan, plan_of_example(example));
    if (row.contains("patch")) plan.merge_patch(row["patch"]);
    if (row.contains("then")) append(plan["run"], row["then"]);
    program.candidate = with_plan(example, plan);
    programs.push_back(std::move(program));
  }
  return {};
}

// Behind GLSL's #version, which must stay first.
void add_macros(std::string& source, const BoundTask& task) {
  const BoundArgument &input = task.arguments.front(), &output = task.arguments.back();
  const std::size_t at = source.starts_with("#version") ? source.find('\n') + 1 : 0;
  source.insert(at, fmt::format("#define INPUT_ELEMENTS {}\n#define OUTPUT_ELEMENTS {}\n",
                                element_count(input.shape), element_count(output.shape)));
}

// Of a line "// grid: 65535 65535"; one block where there is none.
Json grid_of(const std::string& kernel) {
  Json grid = Json::array();
  constexpr std::string_view kMark = "// grid: ";
  if (const std::size_t at = kernel.find(kMark); at != std::string::npos) {
    std::istringstream sizes(kernel.substr(at + kMark.size(), kernel.find('\n', at) - at - kMark.size()));
    for (int size = 0; sizes >> size;) grid.push_back(size);
  }
  return grid.empty() ? Json::array({1}) : grid;
}

Result<void> add_kernel(const fs::path& file, const Candidate& example, const BoundTask& task,
                        std::vector<WrongProgram>& programs) {
  KF_TRY(std::string kernel, read_file(file, kLargestWrongProgram));
  WrongProgram program;
  program.name = file.stem().string();
  KF_TRY_VOID(read_comments(file.string(), kernel, program));
  KF_TRY(Json plan, plan_of_example(example));
  append(plan["run"],
         Json::array({{{"kernel", "wrong"},
                       {"grid", grid_of(kernel)},
                       {"block", {1}},
                       {"args", {task.arguments.front().c_name, task.arguments.back().c_name}}}}));
  program.candidate = with_plan(example, plan);
  std::string& source = program.candidate.files.front().content;
  add_macros(source, task);
  source += "\n" + kernel;
  programs.push_back(std::move(program));
  return {};
}

}  // namespace

Result<std::vector<WrongProgram>> wrong_device_programs(const Candidate& example, const BoundTask& task) {
  KF_TRY(fs::path root, data_root());
  const fs::path folder = root / "platforms" / "wrong_device";
  std::vector<WrongProgram> programs;
  KF_TRY_VOID(add_plans(folder / "plans.json", example, task, programs));
  std::vector<fs::path> files;
  std::error_code error;
  const std::string ending = fs::path(example.files.front().name).extension().string();
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ending) files.push_back(it->path());
  std::ranges::sort(files);
  for (const fs::path& file : files) KF_TRY_VOID(add_kernel(file, example, task, programs));
  return programs;
}

Result<Candidate> repeated_device_example(const Candidate& example, int times) {
  KF_TRY(Json plan, plan_of_example(example));
  plan["run"] = Json::array({{{"repeat", times}, {"run", plan["run"]}}});
  return with_plan(example, plan);
}

}  // namespace kforge
