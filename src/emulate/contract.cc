#include "emulate/contract.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "base/nearest.h"

namespace kforge::emulate {
namespace {

CompileError mistake(std::string text) { return {"plan.json: error: " + std::move(text) + "\n"}; }

class Generator {
 public:
  Generator(const LaunchPlan& plan, const std::vector<bool>& params, const Rewritten& source,
            Language language, Variant variant)
      : plan_(plan), params_(params), source_(source), language_(language), variant_(variant) {}

  std::expected<Contract, CompileError> run() {
    write_constants();
    contract_.thunks = "\n# 1 \"plan.json\"\n";
    contract_.tables = "#include \"kforge/program_api.h\"\n";
    for (const auto& [part, steps] : {std::pair{"prepare", &plan_.prepare}, std::pair{"run", &plan_.run}})
      for (std::size_t i = 0; i < steps->size(); ++i)
        if (const auto* launch = std::get_if<PlanLaunch>(&(*steps)[i]))
          if (auto wrong = look_at(*launch, fmt::format("{}[{}]", part, i))) return std::unexpected(*wrong);
    write_memory();
    write_steps("prepare", plan_.prepare);
    write_steps("run", plan_.run);
    write_entries();
    return std::move(contract_);
  }

 private:
  // By the plan's `defines`.
  void write_constants() {
    if (language_ != Language::kMetal) return;
    contract_.constants =
        "namespace kfe_constants {\nstruct Value {\n  bool defined;\n  double value;\n};\n"
        "inline bool kfe_is_defined(Value v) { return v.defined; }\n";
    for (const std::string& name : source_.constants) {
      const auto found = plan_.defines.find(name);
      const bool known = found != plan_.defines.end();
      contract_.constants +=
          fmt::format("inline constexpr Value {}{{{}, {}}};\n", name, known, known ? found->second : 0);
    }
    contract_.constants += "}\n";
  }

  // The pointers and scalars that a launch gives, against what the kernel takes; and the kernel's thunk.
  std::optional<CompileError> look_at(const PlanLaunch& launch, const std::string& place) {
    const std::string& base = launch.kernel;
    const auto kernel = std::ranges::find(source_.kernels, base, &KernelSignature::name);
    if (kernel == source_.kernels.end()) {
      std::vector<std::string> names;
      for (const KernelSignature& known : source_.kernels) names.push_back(known.name);
      return mistake(fmt::format("{}.kernel: the source has no kernel '{}'; it has: {}", place, base,
                                 names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
    }
    const std::size_t takes = arguments_of(*kernel);
    if (takes != launch.arguments.size())
      return mistake(fmt::format("{}.args: kernel '{}' (line {}) takes {} arguments, the plan gives {}",
                                 place, base, kernel->line, takes, launch.arguments.size()));
    if (launch.shared_bytes > (227u << 10))
      return mistake(fmt::format("{}.shared_bytes: {} bytes, a block has at most {}", place,
                                 launch.shared_bytes, 227 << 10));
    const std::string callee = kernel->callee.empty() ? launch.kernel : kernel->callee;
    std::string checks;
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const auto* scalar = std::get_if<PlanScalar>(&launch.arguments[i]);
      static constexpr const char* kTypes[] = {"int", "unsigned", "long long", "float"};
      const char* type = scalar ? kTypes[static_cast<int>(scalar->type)] : "void*";
      checks += fmt::format(
          "static_assert(kfe::takes<{}, {}>(&{}), \"{}.args[{}]: {} for a parameter of another type\");\n",
          position_of(*kernel, i), type, callee, place, i, scalar ? type : "a buffer");
    }
    if (checked_.insert(launch.kernel + checks).second) contract_.thunks += checks;
    const std::string thunk = fmt::format("kfe_thunk_{}", thunks_.size());
    if (thunks_.try_emplace(launch.kernel, thunk).second) {
      contract_.names.push_back(thunk);
      contract_.thunks += thunk_text(*kernel, callee, thunk);
      contract_.tables += fmt::format("extern \"C\" void {}(const KfeArgument*);\n", thunk);
    }
    return std::nullopt;
  }

  // How many arguments the plan gives a kernel: in MSL those of [[buffer(n)]].
  std::size_t arguments_of(const KernelSignature& kernel) const {
    if (language_ == Language::kCuda) return kernel.parameters.size();
    return static_cast<std::size_t>(
        std::ranges::count(kernel.parameters, "buffer", &KernelParameter::attribute));
  }
  // Place of the plan's argument `i` among the kernel's parameters.
  std::size_t position_of(const KernelSignature& kernel, std::size_t i) const {
    if (language_ == Language::kCuda) return i;
    for (std::size_t p = 0; p < kernel.parameters.size(); ++p)
      if (kernel.parameters[p].attribute == "buffer" && kernel.parameters[p].index == static_cast<int>(i))
        return p;
    return kernel.parameters.size();
  }

  std::string thunk_text(const KernelSignature& kernel, const std::string& name,
                         const std::string& thunk) const {
    if (language_ == Language::kCuda)
      return fmt::format("extern \"C\" void {}(const KfeArgument* a) {{ kfe::call(&{}, a); }}\n", thunk,
                         name);
    std::vector<std::string> sources;
    for (const KernelParameter& parameter : kernel.parameters)
      sources.push_back(parameter.attribute == "buffer" || parameter.attribute == "threadgroup"
                            ? fmt::format("kfe::{}<{}>", parameter.attribute, parameter.index)
                            : fmt::format("kfe::{}", parameter.attribute));
    return fmt::format("extern \"C\" void {}(const KfeArgument* a) {{ kfe::call<{}>(&{}, a); }}\n", thunk,
                       fmt::join(sources, ", "), name);
  }

  void write_memory() {
    contract_.tables += "static const KfeMemory memory[] = {\n";
    for (std::size_t i = 0; i < plan_.memory.size(); ++i) {
      const PlanMemory& one = plan_.memory[i];
      contract_.tables += fmt::format("  {{\"{}\", {}ull, {}, {}, {}}},\n", one.name, one.bytes,
                                      size_of(one.dtype), i < plan_.tensors ? 1 : 0, one.prepared ? 1 : 0);
    }
    contract_.tables += "  {}};\n";
  }

  void write_steps(const char* part, const std::vector<PlanStep>& steps) {
    std::string rows, arguments;
    for (std::size_t i = 0; i < steps.size(); ++i)
      std::visit([&](const auto& step) { rows += row(step, fmt::format("{}_{}", part, i), arguments); },
                 steps[i]);
    contract_.tables +=
        arguments + fmt::format("static const KfeStep {}_steps[] = {{\n{}  {{}}}};\n", part, rows);
  }

  static std::string index(const std::array<std::uint32_t, 3>& sizes) {
    return fmt::format("{{{}}}", fmt::join(sizes, ", "));
  }

  std::string row(const PlanLaunch& launch, const std::string& name, std::string& arguments) const {
    std::string list;
    for (const PlanArgument& argument : launch.arguments) {
      if (const auto* use = std::get_if<PlanUse>(&argument))
        list += fmt::format("{{{}, 0, {}ll, 0}}, ", use->memory, use->offset);
      else if (const auto& scalar = std::get<PlanScalar>(argument); scalar.type == PlanScalar::Type::kFloat32)
        list += fmt::format("{{-1, 1, 0, __builtin_bit_cast(float, {}u)}}, ",
                            std::bit_cast<std::uint32_t>(scalar.real));
      else
        list += fmt::format("{{-1, 0, (long long){}ull, 0}}, ", static_cast<std::uint64_t>(scalar.integer));
    }
    arguments += fmt::format("static const KfePlanArgument {}[] = {{{}{{}}}};\n", name, list);
    return fmt::format("  {{KfeStep::kLaunch, \"{}\", {}, {}, {}, {}, {}ull, {}, {}, 0, 0, 0, 0}},\n",
                       launch.kernel, thunks_.at(launch.kernel), index(launch.grid), index(launch.block),
                       index(launch.threads), launch.shared_bytes, name, launch.arguments.size());
  }
  std::string row(const PlanFill& fill, const std::string&, std::string&) const {
    return fmt::format(
        "  {{KfeStep::kFill, \"\", nullptr, {{}}, {{}}, {{}}, 0, nullptr, 0, {}, 0, 0, {}ull}},\n",
        fill.memory, element_bits(plan_.memory[fill.memory].dtype, fill.value));
  }
  std::string row(const PlanCopy& copy, const std::string&, std::string&) const {
    return fmt::format(
        "  {{KfeStep::kCopy, \"\", nullptr, {{}}, {{}}, {{}}, 0, nullptr, 0, {}, {}, {}ull, 0}},\n", copy.to,
        copy.from, copy.bytes);
  }

  void write_entries() {
    const bool prepares = !plan_.prepare.empty();
    if (looks(variant_))
      contract_.tables +=
          fmt::format("extern \"C\" const kfe_u32 kfe_bounds_only = {}, kfe_counts = {};\n",
                      variant_ == Variant::kCheck ? 0 : 1, variant_ == Variant::kCount ? 1 : 0);
    contract_.tables += fmt::format(
        "static const KfeProgram program = {{memory, {}, prepare_steps, {}, run_steps, {}, {}}};\n",
        plan_.memory.size(), plan_.prepare.size(), plan_.run.size(), language_ == Language::kMetal ? 1 : 0);
    const std::string report = looks(variant_) ? "report" : "nullptr";
    std::vector<std::string> all, of_params, of_rest, given_params, given_rest, given_all;
    for (std::size_t i = 0; i < plan_.tensors; ++i) {
      const bool param = i < params_.size() && params_[i];
      const std::string name = fmt::format("t{}", i), declared = "void* " + name;
      all.push_back(declared);
      (param ? of_params : of_rest).push_back(declared);
      given_all.push_back(name);
      given_params.push_back(param ? name : "nullptr");
      given_rest.push_back(param ? "nullptr" : name);
    }
    for (auto* given : {&given_all, &given_params, &given_rest}) given->push_back("nullptr");
    if (looks(variant_)) {
      all.push_back("void* report");
      of_rest.push_back("void* report");
    }
    if (!prepares) {
      contract_.tables += fmt::format(
          "extern \"C\" void kernel({}) {{ void* const t[] = {{{}}}; kfe_run(&program, t, nullptr, {}); }}\n",
          fmt::join(all, ", "), fmt::join(given_all, ", "), report);
      return;
    }
    // prepare has no report of its own: what is wrong in it is said by the first call.
    of_rest.insert(of_rest.begin(), "void* state");
    contract_.tables += fmt::format(
        "extern \"C\" void* prepare({}) {{ void* const t[] = {{{}}}; return kfe_prepare(&program, t); "
        "}}\n"
        "extern \"C\" void kernel_prepared({}) {{ void* const t[] = {{{}}}; kfe_run(&program, t, state, {}); "
        "}}\n"
        "extern \"C\" void release(void* state) {{ kfe_release(&program, state); }}\n",
        fmt::join(of_params, ", "), fmt::join(given_params, ", "), fmt::join(of_rest, ", "),
        fmt::join(given_rest, ", "), report);
  }

  static std::uint64_t element_bits(DType dtype, double value);

  const LaunchPlan& plan_;
  const std::vector<bool>& params_;
  const Rewritten& source_;
  Language language_;
  Variant variant_;
  Contract contract_;
  std::map<std::string, std::string> thunks_;
  std::set<std::string> checked_;
};

// A float as float16 and bfloat16, to nearest even.
std::uint16_t half_bits(float value) { return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value)); }
std::uint16_t bfloat_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return 0x7FC0;
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

std::uint64_t Generator::element_bits(DType dtype, double value) {
  switch (dtype) {
    case DType::kFloat32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case DType::kFloat64:
      return std::bit_cast<std::uint64_t>(value);
    case DType::kFloat16:
      return half_bits(static_cast<float>(value));
    case DType::kBFloat16:
      return bfloat_bits(static_cast<float>(value));
    case DType::kBool:
      return value != 0;
    default:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
}

}  // namespace

std::expected<Contract, CompileError> make_contract(const LaunchPlan& plan, const std::vector<bool>& params,
                                                    const Rewritten& source, Language language,
                                                    Variant variant) {
  return Generator(plan, params, source, language, variant).run();
}

}  // namespace kforge::emulate
