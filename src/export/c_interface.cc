#include "export/c_interface.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "export/parts.h"
#include "forge/check_tensors.h"

namespace kforge {
namespace {

bool only_read(const BoundArgument& argument) {
  return argument.role == Role::kInput || argument.role == Role::kParam;
}

// Names that the functions of the header use themselves.
std::string parameter_name(const BoundArgument& argument) {
  static const std::set<std::string> kOwn = {"plan", "threads", "params", "tensors", "status"};
  return kOwn.contains(argument.c_name) ? argument.c_name + "_tensor" : argument.c_name;
}

std::string declaration(const BoundArgument& argument) {
  return fmt::format("{}{}* {}", only_read(argument) ? "const " : "", c_type_of(argument.dtype),
                     parameter_name(argument));
}

std::string span_of(const BoundArgument& argument) {
  return fmt::format("std::span<{}{}> {}", only_read(argument) ? "const " : "", c_type_of(argument.dtype),
                     parameter_name(argument));
}

struct Sides {
  std::vector<const BoundArgument*> params, others;
};
Sides sides_of(const BoundTask& task) {
  Sides sides;
  for (const BoundArgument& argument : task.arguments)
    (argument.role == Role::kParam ? sides.params : sides.others).push_back(&argument);
  return sides;
}

template <class Function>
std::string list(const std::vector<const BoundArgument*>& arguments, Function text_of,
                 const char* before = "") {
  std::string text;
  for (const BoundArgument* argument : arguments) text += (text.empty() ? before : ", ") + text_of(*argument);
  return text;
}

std::string role_words(const BoundArgument& argument) {
  switch (argument.role) {
    case Role::kInput:
      return "in";
    case Role::kParam:
      return "param";
    case Role::kInout:
      return "in and out";
    case Role::kOutput:
      return "out";
  }
  return "";
}

std::string tensor_lines(const BoundTask& task) {
  std::string text;
  for (const BoundArgument& argument : task.arguments)
    text += fmt::format("     {:<16} {:<10} {} [{}]{}\n", parameter_name(argument), role_words(argument),
                        name_of(argument.dtype), fmt::join(argument.shape, ", "),
                        argument.dtype == DType::kBFloat16 ? ", the bits" : "");
  return text;
}

// Inside a comment of C.
std::string comment_text(std::string_view text) {
  std::string safe;
  for (char c : text) safe += static_cast<unsigned char>(c) < 0x20 || c == '\\' ? ' ' : c;
  for (std::size_t at; (at = safe.find("*/")) != std::string::npos;) safe.replace(at, 2, "* ");
  return safe;
}

}  // namespace

std::string macro_prefix(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::string c_header(const BoundTask& task, std::string_view name, std::string_view verdict) {
  const std::string macro = macro_prefix(name);
  const Sides sides = sides_of(task);
  std::vector<const BoundArgument*> all;
  for (const BoundArgument& argument : task.arguments) all.push_back(&argument);
  auto plain = [](const BoundArgument& a) { return parameter_name(a); };
  auto as_void = [](const BoundArgument& a) { return "(void*)" + parameter_name(a); };
  std::string dims;
  for (const auto& [dim, value] : dimension_symbols(task))
    dims += fmt::format("#define {}_DIM_{} {}\n", macro, dim, value);
  std::string params_array =
      sides.params.empty() ? "  const void* const* params = 0;\n"
                           : fmt::format("  const void* params[] = {{{}}};\n", list(sides.params, plain));
  return fmt::format(
      R"c(/* {name}.h: a kernel made by KForge.

   {description}
   {verdict}

   Tensors, contiguous and row-major, each beginning at a multiple of 64 bytes:
{tensors}
   Calls are safe from several threads, and run one after another. What is not as the kernel needs it is a status,
   never a crash. provenance.json says where the kernel comes from and how it was judged. */
#ifndef {macro}_H_
#define {macro}_H_

#include <stdint.h>

#if defined(__GNUC__)
#define {macro}_API __attribute__((visibility("default")))
#else
#define {macro}_API
#endif

{dims}
#ifdef __cplusplus
extern "C" {{
#endif

typedef enum {name}_status {{
  {macro}_OK = 0,
  {macro}_UNSUPPORTED = 1, /* the processor lacks an instruction set: {name}_missing() */
  {macro}_MISALIGNED = 2,  /* a tensor does not begin at a multiple of 64 bytes */
  {macro}_NO_MEMORY = 3
}} {name}_status;

/* The kernel made ready for one set of params and a number of threads. */
typedef struct {name}_plan {name}_plan;

/* The instruction set that the kernel needs and this processor lacks; null: it can run here. */
{macro}_API const char* {name}_missing(void);
{macro}_API const char* {name}_status_text({name}_status status);
{macro}_API void {name}_destroy({name}_plan* plan); /* null: nothing */

/* For other languages: pointers to the params, and to all other tensors, in the order above. */
{macro}_API {name}_status {name}_create_v({name}_plan** plan, int threads, const void* const* params);
{macro}_API {name}_status {name}_run_v({name}_plan* plan, void* const* tensors);

/* Does the work that depends on the params alone. They must stay where they are, unchanged, as long as the plan lives.
   threads: 0 for as many as OpenMP has. */
static inline {name}_status {name}_create({name}_plan** plan, int threads{create}) {{
{params_array}  return {name}_create_v(plan, threads, params);
}}

static inline {name}_status {name}_run({name}_plan* plan{run}) {{
  void* tensors[] = {{{run_pointers}}};
  return {name}_run_v(plan, tensors);
}}

/* All at once, for a single call. */
static inline {name}_status {name}_compute({compute}) {{
  {name}_plan* plan;
  {name}_status status = {name}_create(&plan, 0{create_names});
  if (status != {macro}_OK) return status;
  status = {name}_run(plan{run_names});
  {name}_destroy(plan);
  return status;
}}

#ifdef __cplusplus
}}
#endif

#endif /* {macro}_H_ */
)c",
      fmt::arg("name", name), fmt::arg("macro", macro), fmt::arg("dims", dims),
      fmt::arg("description", comment_text(task.task->description)),
      fmt::arg("verdict", comment_text(verdict)), fmt::arg("tensors", tensor_lines(task)),
      fmt::arg("create", list(sides.params, declaration, ", ")), fmt::arg("params_array", params_array),
      fmt::arg("run", list(sides.others, declaration, ", ")),
      fmt::arg("run_pointers", list(sides.others, as_void)), fmt::arg("compute", list(all, declaration)),
      fmt::arg("create_names", list(sides.params, plain, ", ")),
      fmt::arg("run_names", list(sides.others, plain, ", ")));
}

std::string cpp_header(const BoundTask& task, std::string_view name) {
  const Sides sides = sides_of(task);
  auto data = [](const BoundArgument& a) { return parameter_name(a) + ".data()"; };
  auto checks = [](const std::vector<const BoundArgument*>& arguments) {
    std::string text;
    for (const BoundArgument* a : arguments)
      text += fmt::format("    check_size(\"{0}\", {1}.size(), k_{0});\n", a->c_name, parameter_name(*a));
    return text;
  };
  std::string sizes;
  for (const BoundArgument& argument : task.arguments)
    sizes += fmt::format("inline constexpr std::size_t k_{} = {};  // elements\n", argument.c_name,
                         element_count(argument.shape));
  std::string params = list(sides.params, span_of);
  return fmt::format(
      R"c(// {name}.hpp: the kernel of {name}.h for C++20, with tensors as spans. What is wrong is an exception.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "{name}.h"

namespace {name} {{

{sizes}
// The kernel made ready for one set of params, which must stay where they are, unchanged, as long as it lives.
class Plan {{
 public:
  // threads: 0 for as many as OpenMP has. Throws std::runtime_error where the processor lacks an instruction set.
  explicit Plan({constructor}) {{
{param_checks}    {name}_plan* made = nullptr;
    check({name}_create(&made, threads{param_data}));
    plan_.reset(made);
  }}

  // Throws std::invalid_argument for a tensor of another size, or one that does not begin at a multiple of 64 bytes.
  void operator()({run}) const {{
{run_checks}    check({name}_run(plan_.get(){run_data}));
  }}

 private:
  static void check_size(const char* tensor, std::size_t given, std::size_t wanted) {{
    if (given == wanted) return;
    throw std::invalid_argument(std::string("{name}: ") + tensor + " has " + std::to_string(given) + " elements, not " +
                                std::to_string(wanted));
  }}
  static void check({name}_status status) {{
    if (status == {macro}_OK) return;
    std::string text = std::string("{name}: ") + {name}_status_text(status);
    if (status == {macro}_MISALIGNED) throw std::invalid_argument(text);
    if (const char* missing = {name}_missing()) text += std::string(": ") + missing;
    throw std::runtime_error(text);
  }}
  struct Destroy {{
    void operator()({name}_plan* plan) const {{ {name}_destroy(plan); }}
  }};

  std::unique_ptr<{name}_plan, Destroy> plan_;
}};

}}  // namespace {name}
)c",
      fmt::arg("name", name), fmt::arg("macro", macro_prefix(name)), fmt::arg("sizes", sizes),
      fmt::arg("constructor", (params.empty() ? "" : params + ", ") + "int threads = 0"),
      fmt::arg("param_checks", checks(sides.params)), fmt::arg("param_data", list(sides.params, data, ", ")),
      fmt::arg("run", list(sides.others, span_of)), fmt::arg("run_checks", checks(sides.others)),
      fmt::arg("run_data", list(sides.others, data, ", ")));
}

std::string renamed_task_header(const BoundTask& task, std::string_view name) {
  const std::string header = make_task_header(task);
  std::string text;
  for (std::string_view line : lines_of(header)) {
    std::string changed(line);
    if (line.starts_with("extern \"C\"") && line.ends_with(";")) {
      std::size_t open = line.find('('), start = line.find_last_of("* ", open) + 1;
      changed = fmt::format("{} __asm__(\"{}_{}\");", line.substr(0, line.size() - 1), name,
                            line.substr(start, open - start));
    }
    text += changed + "\n";
  }
  return text;
}

std::string kernel_calls(const BoundTask& task, std::string_view name, const std::vector<std::string>& needs,
                         bool prepared) {
  std::vector<std::string> all, params, others;
  std::size_t param = 0, other = 0;
  for (const BoundArgument& argument : task.arguments) {
    bool is_param = argument.role == Role::kParam;
    std::string pointer =
        pointer_text(argument, is_param ? fmt::format("p[{}]", param++) : fmt::format("t[{}]", other++));
    all.push_back(pointer);
    (is_param ? params : others).push_back(pointer);
  }
  std::string list;
  for (const std::string& need : needs) list += fmt::format("\"{}\", ", need);
  std::string text = fmt::format(
      "// Made by KForge: what plan.cc must know of this kernel.\n#pragma once\n\n#include "
      "\"{0}.h\"\n#include "
      "\"task.h\"\n\n#define API(name) {0}_##name\n#define API_VALUE(name) {1}_##name\nusing Plan = "
      "{0}_plan;\n"
      "using Status = {0}_status;\n\nnamespace {{\n\nconstexpr const char* kNeeds[] = {{{2}nullptr}};\n"
      "constexpr int kParams = {3}, kTensors = {4}, kAlignment = 64;\n\n",
      name, macro_prefix(name), list, params.size(), others.size());
  if (!prepared)
    return text +
           fmt::format(
               "inline void* prepare_kernel(const void* const*) {{ return nullptr; }}\n"
               "inline void call_kernel(void*, [[maybe_unused]] const void* const* p, void* const* t) {{\n  "
               "kernel({});\n}}\ninline void release_kernel(void*) {{}}\n\n}}  // namespace\n",
               fmt::join(all, ", "));
  others.insert(others.begin(), "state");
  // A program need not have release().
  return text +
         fmt::format(
             "inline void* prepare_kernel([[maybe_unused]] const void* const* p) {{ return prepare({}); }}\n"
             "inline void call_kernel(void* state, const void* const*, void* const* t) {{\n  "
             "kernel_prepared({});\n}}\ninline void release_kernel(void* state) {{\n  if (release) "
             "release(state);\n}}\n\n}}  // namespace\n",
             fmt::join(params, ", "), fmt::join(others, ", "));
}

std::vector<SourceFile> native_files(const Exportable& exported, std::string_view name) {
  std::vector<SourceFile> files;
  for (const SourceFile& file : exported.program.files)
    files.push_back({"src/kernel/" + file.name, file.content});
  std::string header = renamed_task_header(exported.task(), name);
  std::string calls = kernel_calls(exported.task(), name, exported.needs, exported.prepared());
  if (exported.prepared())
    calls.insert(calls.find("namespace {"),
                 "extern \"C\" void release(void* state) __attribute__((weak));\n\n");
  files.push_back({"src/task.h", header});
  files.push_back({"src/kernel_calls.h", calls});
  // The renamed declarations come first, also for a program that does not include task.h.
  files.push_back(
      {"src/kforge_prelude.h", prelude_file(exported.setup->platform).content + "#include \"task.h\"\n"});
  for (const char* part : {"plan.cc", "cpu_features.h"})
    files.push_back({fmt::format("src/{}", part), std::string(export_part(fmt::format("native/{}", part)))});
  return files;
}

}  // namespace kforge
