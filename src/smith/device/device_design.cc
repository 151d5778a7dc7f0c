// From a problem to the source of its kernels and the plan that launches them.
#include "smith/device/device_design.h"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "smith/device/kernel_writer.h"
#include "smith/graph/passes.h"
#include "smith/schedule/schedule.h"

namespace kforge::smith {
namespace {

using Json = nlohmann::ordered_json;
using Where = TensorInfo::Where;

// So many workgroups are wanted at least of a reduction that leaves few results.
constexpr int kParts = 64;

class Assembler {
 public:
  Assembler(const Problem& problem, const Dialect& dialect, const DeviceChoices& choices)
      : problem_(problem), d_(dialect), choices_(choices) {}

  // `later`: what runs after it in another part of the plan.
  Result<> add(const Program& program, const Program* later) {
    const bool prepare = later != nullptr;
    std::set<std::string> keep;
    if (later)
      for (const Stage& stage : later->stages)
        if (stage.body) keep.merge(tensors_of(stage.body));
    if (program.stages.empty()) return {};
    KF_TRY(DeviceKernels scheduled, schedule_kernels(build_nest(tidy_dimensions(program)), keep));
    steps_.insert(steps_.end(), scheduled.steps.begin(), scheduled.steps.end());
    for (DeviceKernel& kernel : scheduled.kernels) {
      kernel.choices = choices_;
      if (kernel.kind != DeviceKernel::Kind::kTiles) kernel.block = std::min(kernel.block, choices_.block);
      KF_TRY_VOID(add_kernel(scheduled.nest, kernel, prepare));
    }
    return {};
  }

  DeviceDesign finish() {
    DeviceDesign design;
    design.file = d_.file;
    for (const std::string& reason : reasons_) design.summary += reason + "\n";
    Json schedule = Json::parse(to_json(Schedule{steps_, {}}));
    schedule["block"] = choices_.block;
    // What is as it was before there was a choice is left out: schedules of then are read so.
    if (choices_.sums != 4) schedule["sums"] = choices_.sums;
    if (choices_.depth != 16) schedule["depth"] = choices_.depth;
    if (choices_.pad != 0) schedule["pad"] = choices_.pad;
    if (choices_.items != 1) schedule["items"] = choices_.items;
    design.schedule = schedule.dump();
    Json plan;
    plan["buffers"] = buffers_;
    plan["prepare"] = prepare_;
    plan["run"] = run_;
    design.plan = plan.dump(1) + "\n";
    // GLSL wants its version before everything else.
    const std::string head = d_.file_head(narrow_, halves_, doubles_);
    std::string comment = fmt::format("// {}\n//\n", problem_.name);
    for (const std::string& reason : reasons_) comment += "// " + reason + "\n";
    design.source = (d_.language == DeviceLanguage::kGlsl ? head + comment : comment + head) + "\n";
    const std::string functions = device_prelude(d_, used_);
    design.source += functions + (functions.empty() ? "" : "\n") + constants_;
    for (std::size_t i = 0; i < kernels_.size(); ++i) design.source += (i ? "\n" : "") + kernels_[i];
    return design;
  }

 private:
  Result<> add_kernel(const Nest& nest, const DeviceKernel& kernel, bool prepare) {
    std::vector<KernelBuffer> buffers;
    KF_TRY(buffers, buffers_of(nest, kernel));
    KernelWriter writer(d_, nest, kernel, used_);
    const std::string body = writer.write();
    static constexpr std::string_view kHow[] = {"threads", "rows", "tiles"};
    const std::string_view how = kHow[static_cast<std::size_t>(kernel.kind)];
    std::string name = fmt::format("{}_{}", written_last(kernel), how);
    for (int i = 2; !names_.insert(name).second; ++i)
      name = fmt::format("{}_{}_{}", written_last(kernel), how, i);
    reasons_.push_back(reason_of(kernel, name, writer));
    std::string text = "// " + reasons_.back() + "\n";
    text +=
        d_.open_kernel(name, buffers, kernel.block, writer.shared_declarations) + body + d_.close_kernel();
    kernels_.push_back(std::move(text));
    Json step;
    step["kernel"] = name;
    step["grid"] = writer.grid;
    step["block"] = {kernel.block};
    Json args = Json::array();
    for (const KernelBuffer& buffer : buffers) args.push_back(buffer.name);
    step["args"] = args;
    (prepare ? prepare_ : run_).push_back(step);
    return {};
  }

  static std::string written_last(const DeviceKernel& kernel) {
    std::string last = "kernel";
    for (const Stmt& s : kernel.body)
      visit(s, [&](const StmtNode& n) {
        if (n.kind == StmtNode::Kind::kStore || n.kind == StmtNode::Kind::kUpdate) last = n.tensor;
      });
    for (std::size_t at; (at = last.find("__")) != std::string::npos;) last.erase(at, 1);
    return last;
  }

  std::string reason_of(const DeviceKernel& kernel, const std::string& name,
                        const KernelWriter& writer) const {
    const std::int64_t items = kernel.items();
    switch (kernel.kind) {
      case DeviceKernel::Kind::kThreads:
        return choices_.items == 1
                   ? fmt::format("{}: {} elements, a thread each", name, items)
                   : fmt::format("{}: {} elements, {} to a thread", name, items, choices_.items);
      case DeviceKernel::Kind::kRows:
        return fmt::format("{}: {} {}, {} threads each, combined through {} bytes of shared memory", name,
                           items, items == 1 ? "workgroup" : "rows, a workgroup each", kernel.block,
                           writer.shared_bytes);
      default:
        return fmt::format("{}: {} x {} x {} tiles, factors pass through {} bytes of shared memory", name,
                           writer.grid[2], writer.grid[1], writer.grid[0], writer.shared_bytes);
    }
  }

  // What the kernel takes: arguments first, in the order of the task, then buffers of the plan.
  Result<std::vector<KernelBuffer>> buffers_of(const Nest& nest, const DeviceKernel& kernel) {
    std::set<std::string> reads, writes;
    for (const Stmt& s : kernel.body) reads.merge(reads_of(s)), writes.merge(writes_of(s));
    std::vector<KernelBuffer> found;
    auto all = reads;
    all.insert(writes.begin(), writes.end());
    for (const std::string& name : all) {
      const TensorInfo& tensor = nest.tensors.at(name);
      doubles_ |= tensor.dtype == DType::kFloat64;
      if (is_local(tensor)) continue;
      if (tensor.where == Where::kConstant) {
        add_constant(tensor);
        continue;
      }
      if (!d_.stored.contains(tensor.dtype) && tensor.where != Where::kTemporary)
        return fail("{} has no {} ('{}')", d_.name, kforge::name_of(tensor.dtype), name);
      const bool temporary = tensor.where == Where::kTemporary;
      // Sums that the smith keeps in double for precision are float where there is none.
      const DType dtype = d_.stored.contains(tensor.dtype) ? tensor.dtype : DType::kFloat32;
      found.push_back({temporary ? name : tensor.c_name, d_.identifier(name), dtype, writes.contains(name),
                       reads.contains(name)});
      const std::size_t size = size_of(dtype);
      halves_ |= dtype == DType::kFloat16;
      narrow_ |= size < 4 && dtype != DType::kFloat16;
      if (temporary) {
        Json shape = Json::array();
        for (const std::int64_t extent : tensor.shape) shape.push_back(extent);
        if (shape.empty()) shape.push_back(1);
        buffers_[name] = {{"dtype", kforge::name_of(dtype)}, {"shape", shape}};
      }
    }
    auto rank = [&](const KernelBuffer& b) {
      for (std::size_t i = 0; i < problem_.arguments.size(); ++i)
        if (problem_.arguments[i].c_name == b.name) return i;
      return problem_.arguments.size();
    };
    std::stable_sort(found.begin(), found.end(),
                     [&](const KernelBuffer& a, const KernelBuffer& b) { return rank(a) < rank(b); });
    return found;
  }

  void add_constant(const TensorInfo& tensor) {
    if (!constants_done_.insert(tensor.name).second) return;
    const Type type = type_for(tensor.dtype);
    const std::string element = type == Type::kBool ? "int" : d_.type(type),
                      name = d_.identifier(tensor.name);
    std::string list;
    if (is_float(tensor.dtype))
      for (const double v : tensor.constant->as_double())
        list += (list.empty() ? "" : ", ") + d_.literal(v, type);
    else
      for (const std::int64_t v : tensor.constant->as_int64())
        list +=
            (list.empty() ? "" : ", ") + (type == Type::kBool ? fmt::format("{}", v) : d_.whole_literal(v));
    const std::int64_t count = element_count(tensor.shape);
    constants_ += d_.language == DeviceLanguage::kGlsl
                      ? fmt::format("const {0} {1}[{2}] = {0}[{2}]({3});\n", element, name, count, list)
                      : fmt::format("{}{} {}[{}] = {{{}}};\n", d_.constant, element, name, count, list);
  }

  const Problem& problem_;
  const Dialect& d_;
  DeviceChoices choices_;
  std::set<std::string> used_, names_, constants_done_;
  std::vector<std::string> kernels_, reasons_;
  std::vector<Step> steps_;
  std::string constants_;
  Json buffers_ = Json::object(), prepare_ = Json::array(), run_ = Json::array();
  bool narrow_ = false, halves_ = false, doubles_ = false;
};

}  // namespace

std::string_view name_of(DeviceLanguage language) { return dialect_of(language).name; }

Result<DeviceDesign> device_design(const Problem& problem, DeviceLanguage language,
                                   const DeviceChoices& choices) {
  KF_TRY(Program program, lower(problem));
  Hoisted hoisted = hoist_params(settle_in_place(prune(std::move(program))));
  Assembler assembler(problem, dialect_of(language), choices);
  KF_TRY_VOID(assembler.add(split_reductions(std::move(hoisted.prepared), kParts), &hoisted.rest));
  KF_TRY_VOID(assembler.add(split_reductions(std::move(hoisted.rest), kParts), nullptr));
  return assembler.finish();
}

}  // namespace kforge::smith
