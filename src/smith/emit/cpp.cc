#include "smith/emit/cpp.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "smith/emit/cpp_expr.h"
#include "smith/emit/memory_plan.h"
#include "smith/emit/nest_writer.h"
#include "smith/emit/repeats.h"
#include "smith/emit/steps.h"
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

// A piece of memory of the state. Offset: in the memory that intermediate tensors share; -1: its own.
struct Field {
  std::string type, name;
  std::int64_t bytes = 0;
  std::int64_t offset = -1;
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

// Steps that use a field; nothing where it must stay as it is between calls.
std::optional<PlannedBuffer> lifetime(const CppProgram& program, const Steps& steps, const Field& field,
                                      const std::set<std::string>& kept) {
  PlannedBuffer buffer{field.name, field.bytes};
  bool found = false;
  for (std::size_t i = 0; i < steps.words.size(); ++i) {
    if (!steps.words[i].contains(field.name)) continue;
    if (!std::exchange(found, true)) buffer.first = i;
    buffer.last = i;
  }
  if (!found || kept.contains(field.name)) return std::nullopt;
  // What contractions work in belongs to one step; of a tensor the first one that names it must be the one
  // that writes it.
  if (program.nest.tensors.contains(field.name) &&
      !writes_of(program.nest.root->body[buffer.first]).contains(field.name))
    return std::nullopt;
  return buffer;
}

// Gives fields their places in the shared memory. `kept`: names that prepare() uses.
MemoryPlan share_memory(const CppProgram& program, const Steps& steps, const std::set<std::string>& kept,
                        std::vector<Field>& fields) {
  std::vector<PlannedBuffer> buffers;
  for (const Field& field : fields)
    if (const auto buffer = lifetime(program, steps, field, kept)) buffers.push_back(*buffer);
  MemoryPlan plan = plan_memory(std::move(buffers));
  for (Field& field : fields)
    if (const auto place = plan.offsets.find(field.name); place != plan.offsets.end())
      field.offset = place->second;
  return plan;
}

std::string megabytes(std::int64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
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

constexpr std::string_view kIncludes =
    "#if defined(__x86_64__)\n#include <immintrin.h>\n#endif\n#if defined(_OPENMP)\n#include <omp.h>\n#else\n"
    "inline int omp_get_max_threads() { return 1; }\ninline int omp_get_thread_num() { return 0; }\n#endif\n"
    "#include <sys/mman.h>\n\n#include <algorithm>\n#include <cmath>\n#include <cstdint>\n#include "
    "<cstdlib>\n"
    "#include <cstring>\n#include <utility>\n\n#include \"task.h\"\n\nnamespace {\n";

// The pieces of a program before they stand in one file.
struct Pieces {
  std::set<std::string> headers;  // of kernels/
  std::string definitions;        // functions and kernels at file scope
  std::string body;               // of a call
  std::string prepare;            // of prepare(), once memory is there
  std::vector<Field> fields;
  std::int64_t shared_bytes = 0, thread_bytes = 0;
  bool team = false, large = false;

  bool needs_state() const { return !fields.empty() || thread_bytes > 0; }
};

// The whole of a call, from its nests.
std::string body_of(const CppProgram& program, const std::string& nests, Pieces& p) {
  const std::string indent = p.team ? "    " : "  ";
  std::string body;
  if (p.team) body += "#pragma omp parallel num_threads(team_size())\n  {\n";
  if (p.thread_bytes > 0 || nests.find("thread_heap") != std::string::npos)
    body += indent + (p.team ? "char* thread_heap = s.heaps + omp_get_thread_num() * kThreadBytes;\n"
                             : "char* thread_heap = s.heaps;\n");
  body += nests;
  if (streams(program.nest)) {
    body += indent + "stream_end();\n";
    p.headers.insert("memory/stream.h");
  }
  return p.team ? body + "  }\n" : body;
}

Pieces pieces_of(const CppProgram& program, std::vector<std::string>& comment) {
  Pieces p;
  int counter = 0;
  p.team = any_parallel(program.nest);
  p.large = is_large(program.nest);
  p.fields = fields_of(program);
  for (const KernelPart& part : program.parts) {
    p.headers.insert(part.headers.begin(), part.headers.end());
    p.definitions += "\n" + part.definitions;
  }
  Steps steps;
  std::string nests;
  if (p.large) {
    steps = steps_of(program.nest, p.team, p.headers, counter);
    nests = steps.calls;
    p.definitions += steps.functions;
    p.thread_bytes = steps.thread_bytes;
  } else {
    NestWriter writer(program.nest, p.headers, counter);
    nests = writer.write(0, program.nest.root->body.size(), p.team, p.team ? 2 : 1);
    p.thread_bytes = writer.thread_bytes;
  }
  p.body = body_of(program, nests, p);
  if (program.prepared.root && !program.prepared.root->body.empty()) {
    NestWriter writer(program.prepared, p.headers, counter);
    p.prepare = writer.write(0, program.prepared.root->body.size(), false, 1);
  }
  for (const KernelPart& part : program.parts) p.prepare += part.prepare;
  if (!p.large) return p;
  const MemoryPlan plan = share_memory(program, steps, words_of(p.prepare), p.fields);
  p.shared_bytes = plan.bytes;
  std::int64_t own = 0;
  for (const Field& field : p.fields) own += field.offset < 0 ? field.bytes : 0;
  const std::int64_t heaps = p.thread_bytes * (p.team ? program.problem->threads : 1);
  comment.push_back(fmt::format(
      "memory: {} of intermediate tensors share {}; {} stay between calls; {} for threads; {} in all",
      megabytes(plan.apart), megabytes(plan.bytes), megabytes(own), megabytes(heaps),
      megabytes(plan.bytes + own + heaps)));
  return p;
}

std::string state_text(const Problem& problem, const Pieces& p) {
  std::string text =
      "\n// Memory that outlives a call: intermediate tensors, and what depends on params only.\nstruct "
      "State {\n";
  for (const Argument& argument : problem.arguments)
    if (argument.role == ArgumentRole::kParam)
      text += fmt::format("  const {}* {};\n", c_type_of(argument.dtype), argument.c_name);
  for (const Field& field : p.fields) text += fmt::format("  {}* {};\n", field.type, field.name);
  if (p.shared_bytes > 0)
    text += "  char* memory_;  // of intermediate tensors; those that no step needs together overlap\n";
  if (p.thread_bytes > 0) text += "  char* heaps;\n";
  return text + "};\n";
}

std::string prepare_text(const Problem& problem, const Pieces& p) {
  std::string text =
      fmt::format("extern \"C\" void* prepare({}) {{\n  State* state = new State();\n  State& s = *state;\n",
                  parameter_list(problem, true, false));
  for (const Argument& argument : problem.arguments)
    if (argument.role == ArgumentRole::kParam) text += fmt::format("  s.{0} = {0};\n", argument.c_name);
  if (p.shared_bytes > 0) text += fmt::format("  s.memory_ = (char*)allocated({});\n", p.shared_bytes);
  const std::set<std::string> words = words_of(p.prepare);
  for (const Field& field : p.fields) {
    const std::string place = field.offset < 0 ? fmt::format("allocated({})", field.bytes)
                                               : fmt::format("(s.memory_ + {})", field.offset);
    const bool named = !p.large || words.contains(field.name);
    text += fmt::format("  {3}s.{1} = ({0}*){2};\n", field.type, field.name, place,
                        named ? fmt::format("{}* {} = ", field.type, field.name) : "");
  }
  if (p.thread_bytes > 0) text += "  s.heaps = (char*)allocated(kThreads * kThreadBytes);\n";
  if (!p.large)
    for (const Field& field : p.fields) text += fmt::format("  (void){};\n", field.name);
  return text + p.prepare + "  return state;\n}\n\n";
}

// In a large program every step is a function whose parameters are __restrict; here tensors that follow each
// other in the same memory stand side by side, and only those that are used.
std::string call_text(const Problem& problem, const Pieces& p) {
  const std::string others = parameter_list(problem, false, true);
  std::string text =
      fmt::format("extern \"C\" void kernel_prepared(void* state{}{}) {{\n  State& s = *(State*)state;\n",
                  others.empty() ? "" : ", ", others);
  const std::set<std::string> words = words_of(p.body);
  const auto local = [&](const std::string& type, const std::string& name) {
    if (!p.large)
      text += fmt::format("  {0}* __restrict {1} = s.{1};\n  (void){1};\n", type, name);
    else if (words.contains(name))
      text += fmt::format("  {0}* const {1} = s.{1};\n", type, name);
  };
  for (const Argument& argument : problem.arguments)
    if (argument.role == ArgumentRole::kParam)
      local(fmt::format("const {}", c_type_of(argument.dtype)), argument.c_name);
  for (const Field& field : p.fields) local(field.type, field.name);
  return text + p.body + "}\n\n";
}

std::string release_text(const Pieces& p) {
  std::string text = "extern \"C\" void release(void* state) {\n  State& s = *(State*)state;\n";
  for (const Field& field : p.fields)
    if (field.offset < 0) text += fmt::format("  std::free(s.{});\n", field.name);
  if (p.shared_bytes > 0) text += "  std::free(s.memory_);\n";
  if (p.thread_bytes > 0) text += "  std::free(s.heaps);\n";
  return text + "  delete &s;\n}\n";
}

}  // namespace

std::string emit_cpp(CppProgram& program) {
  const Problem& problem = *program.problem;
  Pieces p = pieces_of(program, program.comment);
  p.headers.insert("vectors/vectors.h");
  if (p.needs_state()) p.headers.insert("memory/allocate.h");

  std::string text = fmt::format("// {}\n//\n", problem.name);
  for (const std::string& reason : program.comment) text += "// " + reason + "\n";
  if (program.arithmetic != "fp32") text += fmt::format("// kforge: arithmetic {}\n", program.arithmetic);
  if (program.algebraic) text += "// kforge: algebraic\n";
  text += kIncludes;
  text += kernel_text(p.headers);
  text +=
      "\n" + constants_text(program.nest) + (program.prepared.root ? constants_text(program.prepared) : "");
  if (p.team || p.thread_bytes > 0) text += team_text(p.team ? problem.threads : 1, p.team);
  if (p.thread_bytes > 0)
    text += fmt::format("constexpr long kThreadBytes = {};\n", (p.thread_bytes + 4095) / 4096 * 4096 + 64);
  if (p.needs_state()) text += state_text(problem, p);
  text += p.definitions + "\n}  // namespace\n\n";
  if (!p.needs_state())
    return text + fmt::format("extern \"C\" void kernel({}) {{\n{}}}\n", parameter_list(problem, true, true),
                              p.body);
  return text + prepare_text(problem, p) + call_text(problem, p) + release_text(p);
}

}  // namespace kforge::smith
