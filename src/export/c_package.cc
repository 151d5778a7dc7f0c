// A CMake project: header, kernel, test, and what find_package() needs.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/files.h"
#include "export/c_interface.h"
#include "export/packages.h"
#include "export/parts.h"
#include "export/provenance.h"
#include "forge/check_tensors.h"

namespace kforge {
namespace {

std::string cmake_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += fmt::format(" [==[{}]==]", word);
  return text;
}

std::string package_cmake(const Exportable& exported, const std::string& name, bool cpp) {
  std::vector<std::string> sources, headers = {fmt::format("include/{}.h", name)};
  for (const std::string& source : exported.line.sources) sources.push_back("src/kernel/" + source);
  if (cpp) headers.push_back(fmt::format("include/{}.hpp", name));
  return fmt::format(
      "# Made by KForge from the line that was judged.\nset(PACKAGE_NAME {})\nset(PACKAGE_VERSION 1.0.0)\n"
      "set(KERNEL_COMPILER{})\nset(KERNEL_SOURCES{})\nset(KERNEL_OPTIONS{})\nset(KERNEL_LINK_OPTIONS{})\n"
      "set(KERNEL_RUNTIME{})\nset(HEADERS{})\nset(TEST_SOURCE {})\n",
      name, cmake_list({exported.line.compiler}), cmake_list(sources), cmake_list(exported.line.options),
      cmake_list(exported.line.link), cmake_list(runtime_options(exported.line)), cmake_list(headers),
      cpp ? "test.cc" : "test.c");
}

// The test goes through what a user calls.
std::string test_call(const BoundTask& task, const std::string& name, bool cpp) {
  std::vector<std::string> all, params, others;
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    const BoundArgument& a = task.arguments[i];
    std::string pointer = pointer_text(a, fmt::format("t[{}]", i));
    if (cpp) pointer = fmt::format("{{{}, {}::k_{}}}", pointer, name, a.c_name);
    all.push_back(pointer);
    (a.role == Role::kParam ? params : others).push_back(pointer);
  }
  std::string skip = fmt::format(
      "{{\n  if ({0}_missing()) {{\n    printf(\"skipped: this processor lacks %s\\n\", {0}_missing());\n    "
      "exit(77);\n  }}\n",
      name);
  if (cpp)
    return skip + fmt::format("  {}::Plan plan{{{}}};\n  plan({});\n}}", name, fmt::join(params, ", "),
                              fmt::join(others, ", "));
  return skip +
         fmt::format(
             "  {0}_status status = {0}_compute({1});\n  if (status != {2}_OK) {{\n    puts({0}_status_text("
             "status));\n    exit(1);\n  }}\n}}",
             name, fmt::join(all, ", "), macro_prefix(name));
}

std::string usage(const BoundTask& task, const std::string& name, bool cpp) {
  std::vector<std::string> params, others;
  for (const BoundArgument& argument : task.arguments)
    (argument.role == Role::kParam ? params : others).push_back(argument.c_name);
  std::string example =
      cpp ? fmt::format(
                "    #include <{0}.hpp>\n    {0}::Plan plan{{{1}}};   // once: spans over the params\n    "
                "plan({2});\n",
                name, fmt::join(params, ", "), fmt::join(others, ", "))
          : fmt::format(
                "    #include <{0}.h>\n    {0}_plan* plan;\n    if ({0}_create(&plan, 0{3}{1}) != {4}_OK) "
                "...\n"
                "    {0}_run(plan, {2});\n    {0}_destroy(plan);\n",
                name, fmt::join(params, ", "), fmt::join(others, ", "), params.empty() ? "" : ", ",
                macro_prefix(name));
  return fmt::format(
      "## Build, test, install\n\n    cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build\n"
      "    ctest --test-dir build --output-on-failure\n    cmake --install build --prefix DIR\n\n"
      "The test calls the kernel on stored inputs and compares with stored values of KForge's oracle. In "
      "another "
      "project:\n\n    find_package({0})\n    target_link_libraries(mine PRIVATE kforge::{0})\n\n## "
      "Use\n\n{1}\n"
      "A processor without the instructions it was compiled for gets a status (`{0}_missing()` names them), "
      "never an "
      "illegal instruction.\n",
      name, example);
}

}  // namespace

Result<std::vector<SourceFile>> c_package(const Exportable& exported, const std::string& name, bool cpp) {
  const BoundTask& task = exported.task();
  std::vector<SourceFile> files = native_files(exported, name);
  files.push_back(
      {fmt::format("include/{}.h", name), c_header(task, name, verdict_sentence(exported.report))});
  if (cpp) files.push_back({fmt::format("include/{}.hpp", name), cpp_header(task, name)});
  files.push_back({"CMakeLists.txt", std::string(export_part("c/CMakeLists.txt"))});
  files.push_back({"cmake/package.cmake", package_cmake(exported, name, cpp)});

  KF_TRY(auto tensors, make_check_tensors(task, exported.setup->policy, exported.setup->threads));
  std::string includes =
      fmt::format("#include <stdio.h>\n#include <stdlib.h>\n\n#include \"{}.{}\"\n", name, cpp ? "hpp" : "h");
  files.push_back({"test/tensors.h", tensors_header(tensors, includes, test_call(task, name, cpp))});
  if (cpp) {
    KF_TRY(std::string caller, read_file(exported.setup->platform.folder / "caller/check.cc"));
    files.push_back({"test/test.cc", std::move(caller)});
  } else {
    files.push_back({"test/test.c", std::string(export_part("c/test.c"))});
  }
  for (SourceFile& file : tensor_files(tensors, "test")) files.push_back(std::move(file));
  files.push_back({"provenance.json", provenance_json(exported, cpp ? "cpp" : "c", name)});
  files.push_back({"README.md", export_readme(exported, name, usage(task, name, cpp))});
  return files;
}

}  // namespace kforge
