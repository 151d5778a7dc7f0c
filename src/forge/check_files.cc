#include "forge/check_files.h"

#include <fmt/ranges.h>

#include "base/files.h"
#include "forge/check_tensors.h"

namespace kforge {
namespace {

// "kernel((const float*)t[0], ...)" for the call that the judged program itself has.
std::string direct_call(const std::vector<CheckTensor>& tensors, bool prepared) {
  std::vector<std::string> params, others;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    (prepared && tensors[i].argument->role == Role::kParam ? params : others)
        .push_back(pointer_text(*tensors[i].argument, fmt::format("t[{}]", i)));
  if (!prepared) return fmt::format("{{ kernel({}); }}", fmt::join(others, ", "));
  others.insert(others.begin(), "state");
  return fmt::format(
      "{{\n  void* state = prepare({});  // once\n  kernel_prepared({});\n  if (release) release(state);\n}}",
      fmt::join(params, ", "), fmt::join(others, ", "));
}

std::string build_of(const JudgedLine& line) {
  auto quoted = [](const std::vector<std::string>& words, const char* before = "") {
    std::string text;
    for (const std::string& word : words) text += fmt::format(" [==[{}{}]==]", before, word);
    return text;
  };
  return fmt::format(
      "# Made by KForge from the line that was judged.\nset(KERNEL_COMPILER{})\nset(KERNEL_SOURCES{})\n"
      "set(KERNEL_OPTIONS{})\nset(KERNEL_LINK_OPTIONS{})\n",
      quoted({line.compiler}), quoted(line.sources, "../"), quoted(line.options), quoted(line.link));
}

}  // namespace

JudgedLine judged_line(const Candidate& program, const BuildFigures& build) {
  JudgedLine line;
  if (!build.command.empty()) line.compiler = build.command[0];
  std::string ending = fs::path(program.files[0].name).extension().string();
  for (const SourceFile& file : program.files)
    if (fs::path(file.name).extension() == ending) line.sources.push_back(file.name);
  for (std::size_t i = 1; i < build.command.size(); ++i) {
    const std::string& word = build.command[i];
    bool with_value = word == "-I" || word == "-o" || word == "-include";
    if (with_value) ++i;
    if (with_value || word == "-shared" || word.starts_with("../src/")) continue;
    (word.starts_with("-Wl,") || word.starts_with("-l") ? line.link : line.options).push_back(word);
  }
  return line;
}

SourceFile prelude_file(const Platform& platform) {
  std::string text = "// What every program for the platform is compiled with.\n";
  for (const std::string& header : platform.build.precompiled) text += fmt::format("#include <{}>\n", header);
  return {"check/kforge_prelude.h", text};
}

Result<std::vector<SourceFile>> check_files(const BoundTask& task, const Platform& platform,
                                            const PrecisionPolicy& policy, const Candidate& program,
                                            const EvalReport& best, int threads) {
  std::vector<SourceFile> files;
  fs::path callers = platform.folder / "caller";
  std::error_code ignored;
  if (!fs::exists(callers, ignored) || !best.build) return files;
  for (const char* name : {"CMakeLists.txt", "check.cc", "check.py"}) {
    KF_TRY(std::string content, read_file(callers / name));
    files.push_back({fmt::format("check/{}", name), std::move(content)});
  }
  KF_TRY(std::vector<CheckTensor> tensors, make_check_tensors(task, policy, threads));
  bool prepared = best.setup.has_value();
  std::string includes = "#include \"task.h\"\n";
  if (prepared) includes += "\nextern \"C\" void release(void* state) __attribute__((weak));\n";
  files.push_back({"check/tensors.h", tensors_header(tensors, includes, direct_call(tensors, prepared))});
  files.push_back({"check/tensors.json", tensors_json(tensors, prepared)});
  files.push_back({"check/build.cmake", build_of(judged_line(program, *best.build))});
  for (SourceFile& file : tensor_files(tensors, "check")) files.push_back(std::move(file));
  return files;
}

}  // namespace kforge
