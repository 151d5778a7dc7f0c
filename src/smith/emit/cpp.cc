#include "smith/emit/cpp.h"

#include <algorithm>

#include <fmt/format.h>

#include "smith/emit/cpp_expr.h"
#include "smith/emit/nest_writer.h"
#include "smith/kernels/kernel_text.h"

namespace kforge::smith {
namespace {

using Where = TensorInfo::Where;

bool any_parallel(const Nest& nest) {
  bool found = false;
  visit(nest.root,
        [&](const StmtNode& n) { found |= n.run == Run::kParallel || (n.native && n.native->parallel); });
  return found;
}
bool streams(const Nest& nest) {
  bool found = false;
  visit(nest.root, [&](const StmtNode& n) { found |= n.stream; });
  return found;
}

std::string constants_text(const Nest& nest) {
  std::string text;
  for (const auto& [name, tensor] : nest.tensors) {
    if (tensor.where != Where::kConstant) continue;
    bool is_used = false;
    visit(nest.root, [&](const StmtNode& n) { is_used |= n.value && tensors_of(n.value).contains(name); });
    visit(nest.root, [&](const StmtNode& n) {
      for (const Expr& e : n.position) is_used |= tensors_of(e).contains(name);
      if (n.native) is_used |= std::count(n.native->reads.begin(), n.native->reads.end(), name) > 0;
    });
    if (!is_used) continue;
    text += fmt::format("alignas(64) static const {} {}[{}] = {{", c_type_of(tensor.dtype), name,
                        element_count(tensor.shape));
    if (is_float(tensor.dtype) && tensor.dtype != DType::kBFloat16) {
      for (double v : tensor.constant->as_double())
        text += literal(v, tensor.dtype == DType::kFloat64 ? Type::kDouble : Type::kFloat) + ", ";
    } else if (tensor.dtype == DType::kBFloat16) {
      for (double v : tensor.constant->as_double()) text += fmt::format("{}, ", bf16_from_double(v));
    } else {
      for (std::int64_t v : tensor.constant->as_int64())
        text += v == INT64_MIN ? "INT64_MIN, " : fmt::format("{}, ", v);
    }
    text += "};\n";
  }
  return text;
}

// Bytes of temporaries that lie in memory.
struct Field {
  std::string type, name;
  std::int64_t bytes = 0;
};
std::vector<Field> fields_of(const CppProgram& program) {
  std::vector<Field> fields;
  std::set<std::string> seen;
  for (const Nest* nest : {&program.prepared, &program.nest}) {
    if (!nest->root) continue;
    auto touched = writes_of(nest->root);
    touched.merge(reads_of(nest->root));
    for (const auto& [name, tensor] : nest->tensors)
      if (tensor.where == Where::kTemporary && tensor.c_name != "local" && touched.contains(name) &&
          seen.insert(name).second)
        fields.push_back({std::string(c_type_of(tensor.dtype)), name,
                          std::max<std::int64_t>(1, element_count(tensor.shape)) *
                              static_cast<std::int64_t>(size_of(tensor.dtype))});
  }
  for (const KernelPart& part : program.parts)
    for (const auto& buffer : part.buffers)
      fields.push_back({"float", buffer.name, std::max<std::int64_t>(1, buffer.floats) * 4});
  return fields;
}

// Scratch memory is laid out for a fixed number of threads, whatever OpenMP is set to when the kernel is
// called.
std::string team_text(int threads, bool team) {
  std::string text = fmt::format(
      "\n// Made for this many threads: scratch memory is laid out for them.\nconstexpr int kThreads = {};\n",
      threads);
  if (team)
    text +=
        "// OpenMP may give a team fewer than it is asked for, never more.\n"
        "inline int team_size() { return std::min(kThreads, omp_get_max_threads()); }\n";
  return text;
}

std::string parameter_list(const Problem& problem, bool params, bool others) {
  std::string text;
  for (const Argument& argument : problem.arguments) {
    const bool is_param = argument.role == ArgumentRole::kParam;
    if (is_param ? !params : !others) continue;
    const bool constant = argument.role == ArgumentRole::kInput || is_param;
    if (!text.empty()) text += ", ";
    text += fmt::format("{}{}* __restrict {}", constant ? "const " : "", c_type_of(argument.dtype),
                        argument.c_name);
  }
  return text;
}

}  // namespace

std::string emit_cpp(const CppProgram& program) {
  const Problem& problem = *program.problem;
  std::set<std::string> used;
  int counter = 0;
  const auto fields = fields_of(program);
  const bool trio = !fields.empty();
  const bool team = any_parallel(program.nest);

  NestWriter writer(program.nest, used, counter);
  const std::string nests = writer.write(0, program.nest.root->body.size(), team);
  const std::int64_t thread_bytes = writer.thread_bytes;
  const bool heap = thread_bytes > 0 || nests.find("thread_heap") != std::string::npos;
  std::string body;
  if (team) body += "#pragma omp parallel num_threads(team_size())\n  {\n";
  const std::string indent = team ? "    " : "  ";
  if (heap)
    body += indent + (team ? "char* thread_heap = s.heaps + omp_get_thread_num() * kThreadBytes;\n"
                           : "char* thread_heap = s.heaps;\n");
  body += nests;
  if (streams(program.nest)) {
    body += indent + "stream_end();\n";
    used.insert("memory/stream.h");
  }
  if (team) body += "  }\n";
  std::string definitions, parts_prepare;
  for (const KernelPart& part : program.parts) {
    used.insert(part.headers.begin(), part.headers.end());
    definitions += "\n" + part.definitions;
    parts_prepare += part.prepare;
  }

  std::string prepared;
  if (program.prepared.root && !program.prepared.root->body.empty()) {
    NestWriter writer(program.prepared, used, counter);
    prepared = writer.write(0, program.prepared.root->body.size(), false);
  }

  std::string text = fmt::format("// {}\n//\n", problem.name);
  for (const std::string& reason : program.comment) text += "// " + reason + "\n";
  if (program.arithmetic != "fp32") text += fmt::format("// kforge: arithmetic {}\n", program.arithmetic);
  if (program.algebraic) text += "// kforge: algebraic\n";
  text +=
      "#if defined(__x86_64__)\n#include <immintrin.h>\n#endif\n#if defined(_OPENMP)\n#include "
      "<omp.h>\n#else\n"
      "inline int omp_get_max_threads() { return 1; }\ninline int omp_get_thread_num() { return 0; "
      "}\n#endif\n"
      "#include <sys/mman.h>\n\n#include <algorithm>\n#include "
      "<cmath>\n#include "
      "<cstdint>\n#include <cstdlib>\n#include <cstring>\n#include <utility>\n\n#include "
      "\"task.h\"\n\nnamespace {\n";
  const bool needs_state = trio || thread_bytes > 0;
  used.insert("vectors/vectors.h");
  if (needs_state) used.insert("memory/allocate.h");
  text += kernel_text(used);
  text +=
      "\n" + constants_text(program.nest) + (program.prepared.root ? constants_text(program.prepared) : "");
  if (team || thread_bytes > 0) text += team_text(team ? problem.threads : 1, team);
  if (thread_bytes > 0)
    text += fmt::format("constexpr long kThreadBytes = {};\n", (thread_bytes + 4095) / 4096 * 4096 + 64);
  if (needs_state) {
    text +=
        "\n// Memory that outlives a call: intermediate tensors, and what depends on params only.\nstruct "
        "State {\n";
    for (const Argument& argument : problem.arguments)
      if (argument.role == ArgumentRole::kParam)
        text += fmt::format("  const {}* {};\n", c_type_of(argument.dtype), argument.c_name);
    for (const Field& field : fields) text += fmt::format("  {}* {};\n", field.type, field.name);
    if (thread_bytes > 0) text += "  char* heaps;\n";
    text += "};\n";
  }
  text += definitions + "\n}  // namespace\n\n";
  if (!needs_state) {
    text += fmt::format("extern \"C\" void kernel({}) {{\n{}}}\n", parameter_list(problem, true, true), body);
    return text;
  }
  text +=
      fmt::format("extern \"C\" void* prepare({}) {{\n  State* state = new State();\n  State& s = *state;\n",
                  parameter_list(problem, true, false));
  for (const Argument& argument : problem.arguments)
    if (argument.role == ArgumentRole::kParam) text += fmt::format("  s.{0} = {0};\n", argument.c_name);
  for (const Field& field : fields)
    text += fmt::format("  {0}* {1} = s.{1} = ({0}*)allocated({2});\n", field.type, field.name, field.bytes);
  if (thread_bytes > 0) text += "  s.heaps = (char*)allocated(kThreads * kThreadBytes);\n";
  for (const Field& field : fields) text += fmt::format("  (void){};\n", field.name);
  text += prepared + parts_prepare + "  return state;\n}\n\n";
  const std::string others = parameter_list(problem, false, true);
  text += fmt::format("extern \"C\" void kernel_prepared(void* state{}{}) {{\n  State& s = *(State*)state;\n",
                      others.empty() ? "" : ", ", others);
  for (const Argument& argument : problem.arguments)
    if (argument.role == ArgumentRole::kParam)
      text += fmt::format("  const {0}* __restrict {1} = s.{1};\n  (void){1};\n", c_type_of(argument.dtype),
                          argument.c_name);
  for (const Field& field : fields)
    text += fmt::format("  {0}* __restrict {1} = s.{1};\n  (void){1};\n", field.type, field.name);
  text += body + "}\n\nextern \"C\" void release(void* state) {\n  State& s = *(State*)state;\n";
  for (const Field& field : fields) text += fmt::format("  std::free(s.{});\n", field.name);
  if (thread_bytes > 0) text += "  std::free(s.heaps);\n";
  text += "  delete &s;\n}\n";
  return text;
}

}  // namespace kforge::smith
