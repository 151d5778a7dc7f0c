#include "device/launch_plan.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/nearest.h"

namespace kforge {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLongestPlan = 1 << 20, kMostBuffers = 4096, kMostArguments = 64, kMostShared = 1 << 20;
constexpr std::int64_t kMostBlocks = 0x7fffffff, kMostBlocksAcross = 65535;  // first dimension, the others

struct Mistake {
  std::string what;
};

// One plan being read. `where` is the path of what is looked at: "run[2].grid".
class Reading {
 public:
  explicit Reading(const PlanSetting& setting) : setting_(setting) {
    for (const PlanTensor& tensor : setting.tensors)
      plan_.memory.push_back({tensor.name, tensor.dtype, tensor.bytes});
    plan_.tensors = plan_.memory.size();
    symbols_ = setting.dimensions;
  }

  LaunchPlan read(const Json& json) {
    only_keys(json, "the plan", {"buffers", "defines", "general", "prepare", "run"});
    if (json.contains("general")) plan_.general = boolean(json["general"], "general");
    if (json.contains("defines")) read_defines(json["defines"]);
    if (json.contains("buffers")) read_buffers(json["buffers"]);
    preparing_ = true;
    if (json.contains("prepare")) read_steps(json["prepare"], "prepare", plan_.prepare);
    preparing_ = false;
    if (!json.contains("run")) throw Mistake{"'run' is missing: the steps of one call"};
    read_steps(json["run"], "run", plan_.run);
    if (plan_.run.empty()) throw Mistake{"run: there is no step, so nothing would be computed"};
    return std::move(plan_);
  }

 private:
  [[noreturn]] static void wrong(const std::string& where, const std::string& what) {
    throw Mistake{fmt::format("{}: {}", where, what)};
  }

  static void only_keys(const Json& json, const std::string& where, const std::vector<std::string>& known) {
    if (!json.is_object()) wrong(where, "must be an object");
    for (const auto& [key, value] : json.items())
      if (std::ranges::find(known, key) == known.end())
        wrong(where, fmt::format("unknown key '{}'{}", key.substr(0, 60), did_you_mean(key, known)));
  }

  static bool boolean(const Json& json, const std::string& where) {
    if (!json.is_boolean()) wrong(where, "must be true or false");
    return json.get<bool>();
  }
  static std::string text(const Json& json, const std::string& where) {
    if (!json.is_string()) wrong(where, "must be a string");
    return json.get<std::string>();
  }
  static double real(const Json& json, const std::string& where) {
    if (!json.is_number()) wrong(where, "must be a number");
    return json.get<double>();
  }

  // A number, or an expression over the dimensions.
  std::int64_t integer(const Json& json, const std::string& where) const {
    if (json.is_number_integer() && (!json.is_number_unsigned() || json.get<std::uint64_t>() <= INT64_MAX))
      return json.get<std::int64_t>();
    if (!json.is_string()) wrong(where, "must be a whole number or an expression over the dimensions");
    auto value = evaluate_plan_expr(json.get_ref<const std::string&>(), symbols_);
    if (!value) wrong(where, value.error());
    return *value;
  }
  std::int64_t integer(const Json& json, const std::string& where, std::int64_t least,
                       std::int64_t most) const {
    std::int64_t value = integer(json, where);
    if (value < least || value > most)
      wrong(where, fmt::format("is {}, and must be between {} and {}", value, least, most));
    return value;
  }

  static void check_name(const std::string& name, const std::string& where) {
    bool good = !name.empty() && name.size() <= 128 && !(name[0] >= '0' && name[0] <= '9') &&
                std::ranges::all_of(name, [](char c) {
                  return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
                });
    if (!good) wrong(where, fmt::format("'{}' is not a name", name.substr(0, 60)));
  }

  void read_defines(const Json& json) {
    if (!json.is_object()) wrong("defines", "must be an object of numbers");
    for (const auto& [name, value] : json.items()) {
      const std::string where = "defines." + name.substr(0, 60);
      check_name(name, where);
      if (symbols_.contains(name)) wrong(where, "is a dimension or tunable of the task already");
      plan_.defines[name] = integer(value, where);
    }
    for (const auto& [name, value] : plan_.defines) symbols_[name] = value;
  }

  void read_buffers(const Json& json) {
    if (!json.is_object()) wrong("buffers", "must be an object");
    if (json.size() > kMostBuffers) wrong("buffers", fmt::format("at most {} of them", kMostBuffers));
    std::size_t all = 0;
    for (const auto& [name, value] : json.items()) {
      const std::string where = "buffers." + name.substr(0, 60);
      check_name(name, where);
      if (find(name)) wrong(where, "is the name of a tensor of the task");
      only_keys(value, where, {"dtype", "shape"});
      PlanMemory buffer{name};
      auto dtype =
          value.contains("dtype") ? dtype_from_name(text(value["dtype"], where + ".dtype")) : std::nullopt;
      if (!dtype || size_of(*dtype) == 0) wrong(where + ".dtype", "must be a type such as \"float32\"");
      buffer.dtype = *dtype;
      buffer.bytes = bytes_of(value, where, size_of(*dtype));
      all += buffer.bytes;
      if (all > setting_.most_memory)
        wrong("buffers", fmt::format("together they have more than {} bytes", setting_.most_memory));
      plan_.memory.push_back(std::move(buffer));
    }
  }

  std::size_t bytes_of(const Json& buffer, const std::string& where, std::size_t element) const {
    if (!buffer.contains("shape") || !buffer["shape"].is_array())
      wrong(where + ".shape", "must be a list of extents");
    std::size_t bytes = element;
    for (std::size_t i = 0; i < buffer["shape"].size(); ++i) {
      auto extent = integer(buffer["shape"][i], fmt::format("{}.shape[{}]", where, i), 1, INT64_MAX);
      if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes) ||
          bytes > setting_.most_memory)
        wrong(where, fmt::format("has more than {} bytes", setting_.most_memory));
    }
    return bytes;
  }

  std::optional<std::size_t> find(std::string_view name) const {
    auto found = std::ranges::find(plan_.memory, name, &PlanMemory::name);
    if (found == plan_.memory.end()) return std::nullopt;
    return static_cast<std::size_t>(found - plan_.memory.begin());
  }

  // A tensor or buffer that a step uses. `writes`: the step is known to write it.
  std::size_t memory(const std::string& name, const std::string& where, bool writes) {
    auto index = find(name);
    if (!index) {
      std::vector<std::string> names;
      for (const PlanMemory& known : plan_.memory) names.push_back(known.name);
      wrong(where, fmt::format("there is no tensor or buffer '{}'{}", name.substr(0, 60),
                               did_you_mean(name, names)));
    }
    const bool tensor = *index < plan_.tensors;
    if (tensor && preparing_ && !setting_.tensors[*index].param)
      wrong(where, fmt::format("'{}' is no param: prepare sees params and buffers only", name));
    if (tensor && writes && !setting_.tensors[*index].output)
      wrong(where, fmt::format("'{}' is not an output: it may not be written", name));
    if (!tensor && preparing_) plan_.memory[*index].prepared = true;
    if (!tensor && !preparing_ && writes && plan_.memory[*index].prepared)
      wrong(where,
            fmt::format("'{}' is made by prepare and lives between calls: run may not write it", name));
    return *index;
  }

  void read_steps(const Json& json, const std::string& where, std::vector<PlanStep>& steps) {
    if (!json.is_array()) wrong(where, "must be a list of steps");
    for (std::size_t i = 0; i < json.size(); ++i) read_step(json[i], fmt::format("{}[{}]", where, i), steps);
  }

  void read_step(const Json& json, const std::string& where, std::vector<PlanStep>& steps) {
    if (!json.is_object()) wrong(where, "must be an object");
    if (json.contains("repeat")) return read_repeat(json, where, steps);
    if (plan_.prepare.size() + plan_.run.size() == kMostPlanLaunches)
      wrong(where, fmt::format("a plan has at most {} steps, repeats written out", kMostPlanLaunches));
    if (json.contains("kernel")) return steps.emplace_back(launch(json, where)), void();
    if (json.contains("fill")) return steps.emplace_back(fill(json, where)), void();
    if (json.contains("copy")) return steps.emplace_back(copy(json, where)), void();
    wrong(where, "is none of kernel, fill, copy, repeat");
  }

  void read_repeat(const Json& json, const std::string& where, std::vector<PlanStep>& steps) {
    only_keys(json, where, {"repeat", "as", "run"});
    auto count = integer(json["repeat"], where + ".repeat", 0, kMostPlanLaunches);
    std::string name = json.contains("as") ? text(json["as"], where + ".as") : "";
    if (!name.empty()) check_name(name, where + ".as");
    if (symbols_.contains(name)) wrong(where + ".as", fmt::format("'{}' is a symbol already", name));
    if (!json.contains("run")) wrong(where, "'run' is missing: what is repeated");
    if (++depth_ > 8) wrong(where, "repeats are nested too deep");
    for (std::int64_t i = 0; i < count; ++i) {
      // Also repeats of nothing come to an end.
      if (++rounds_ > kMostPlanLaunches)
        wrong(where, fmt::format("more than {} rounds in all", kMostPlanLaunches));
      if (!name.empty()) symbols_[name] = i;
      read_steps(json["run"], where + ".run", steps);
    }
    --depth_;
    symbols_.erase(name);
  }

  std::array<std::uint32_t, 3> extents(const Json& step, const char* key, const std::string& where) const {
    std::array<std::uint32_t, 3> all{1, 1, 1};
    const std::string here = where + "." + key;
    if (!step.contains(key) || !step[key].is_array() || step[key].empty() || step[key].size() > 3)
      wrong(here, "must be a list of one to three sizes");
    for (std::size_t i = 0; i < step[key].size(); ++i)
      all[i] = static_cast<std::uint32_t>(
          integer(step[key][i], fmt::format("{}[{}]", here, i), 1, i == 0 ? kMostBlocks : kMostBlocksAcross));
    return all;
  }

  // `threads` instead of `grid`: blocks at the edge are smaller.
  void grid_of_threads(const Json& json, const std::string& where, PlanLaunch& made) const {
    if (!setting_.non_uniform)
      wrong(where + ".threads", "only Metal takes a grid of threads; give 'grid' in blocks");
    if (json.contains("grid")) wrong(where, "has both 'grid' and 'threads'");
    made.threads = extents(json, "threads", where);
    for (std::size_t i = 0; i < 3; ++i) made.grid[i] = (made.threads[i] + made.block[i] - 1) / made.block[i];
  }

  PlanLaunch launch(const Json& json, const std::string& where) {
    only_keys(json, where, {"kernel", "grid", "threads", "block", "shared_bytes", "args"});
    PlanLaunch made;
    made.kernel = text(json["kernel"], where + ".kernel");
    check_name(made.kernel, where + ".kernel");
    made.block = extents(json, "block", where);
    if (json.contains("threads"))
      grid_of_threads(json, where, made);
    else
      made.grid = extents(json, "grid", where);
    std::uint64_t threads = 1;
    for (std::uint32_t extent : made.block) threads *= std::min<std::uint64_t>(extent, 1 << 20);
    if (threads > setting_.most_threads)
      wrong(where + ".block",
            fmt::format("has {} threads, and the device takes {}", threads, setting_.most_threads));
    if (json.contains("shared_bytes"))
      made.shared_bytes =
          static_cast<std::size_t>(integer(json["shared_bytes"], where + ".shared_bytes", 0, kMostShared));
    if (!json.contains("args") || !json["args"].is_array()) wrong(where + ".args", "must be a list");
    if (json["args"].size() > kMostArguments)
      wrong(where + ".args",
            fmt::format("{} arguments, and a launch takes at most {}: let several steps do the work, or put "
                        "values that belong together into one buffer",
                        json["args"].size(), kMostArguments));
    for (std::size_t i = 0; i < json["args"].size(); ++i)
      made.arguments.push_back(argument(json["args"][i], fmt::format("{}.args[{}]", where, i)));
    return made;
  }

  PlanArgument argument(const Json& json, const std::string& where) {
    if (json.is_string()) return PlanUse{memory(json.get<std::string>(), where, false), 0};
    if (!json.is_object())
      wrong(where, "must be a name, a scalar such as {\"i32\": 4}, or {\"buffer\": name}");
    if (json.contains("buffer")) {
      only_keys(json, where, {"buffer", "offset"});
      PlanUse use{memory(text(json["buffer"], where + ".buffer"), where, false), 0};
      if (json.contains("offset"))
        use.offset = static_cast<std::size_t>(integer(
            json["offset"], where + ".offset", 0, static_cast<std::int64_t>(plan_.memory[use.memory].bytes)));
      return use;
    }
    return scalar(json, where);
  }

  PlanScalar scalar(const Json& json, const std::string& where) const {
    only_keys(json, where, {"i32", "u32", "i64", "f32"});
    if (json.size() != 1) wrong(where, "must have exactly one of i32, u32, i64, f32");
    using Type = PlanScalar::Type;
    const std::string& key = json.begin().key();
    const Json& value = json.begin().value();
    if (key == "f32") return {Type::kFloat32, 0, static_cast<float>(real(value, where))};
    if (key == "i32") return {Type::kInt32, integer(value, where, INT32_MIN, INT32_MAX), 0};
    if (key == "u32") return {Type::kUint32, integer(value, where, 0, UINT32_MAX), 0};
    return {Type::kInt64, integer(value, where), 0};
  }

  PlanFill fill(const Json& json, const std::string& where) {
    only_keys(json, where, {"fill", "value"});
    PlanFill made{memory(text(json["fill"], where + ".fill"), where + ".fill", true), 0};
    if (json.contains("value")) made.value = real(json["value"], where + ".value");
    return made;
  }

  PlanCopy copy(const Json& json, const std::string& where) {
    only_keys(json, where, {"copy", "bytes"});
    if (!json["copy"].is_array() || json["copy"].size() != 2) wrong(where + ".copy", "must be [from, to]");
    PlanCopy made;
    made.from = memory(text(json["copy"][0], where + ".copy[0]"), where + ".copy[0]", false);
    made.to = memory(text(json["copy"][1], where + ".copy[1]"), where + ".copy[1]", true);
    if (made.from == made.to) wrong(where + ".copy", "copies something onto itself");
    const std::size_t most = std::min(plan_.memory[made.from].bytes, plan_.memory[made.to].bytes);
    made.bytes = json.contains("bytes") ? static_cast<std::size_t>(integer(json["bytes"], where + ".bytes", 1,
                                                                           static_cast<std::int64_t>(most)))
                                        : most;
    return made;
  }

  const PlanSetting& setting_;
  LaunchPlan plan_;
  PlanSymbols symbols_;
  bool preparing_ = false;
  int depth_ = 0;
  std::size_t rounds_ = 0;  // of all repeats
};

CompileError plan_error(std::string_view what) { return {fmt::format("plan.json: error: {}\n", what)}; }

}  // namespace

std::set<std::string> LaunchPlan::kernels() const {
  std::set<std::string> names;
  for (const auto* steps : {&prepare, &run})
    for (const PlanStep& step : *steps)
      if (const auto* launch = std::get_if<PlanLaunch>(&step)) names.insert(launch->kernel);
  return names;
}

std::expected<LaunchPlan, CompileError> read_launch_plan(std::string_view text, const PlanSetting& setting) {
  if (text.size() > kLongestPlan)
    return std::unexpected(plan_error(fmt::format("it has more than {} bytes", kLongestPlan)));
  try {
    return Reading(setting).read(Json::parse(text));
  } catch (const Json::parse_error& error) {
    return std::unexpected(plan_error(fmt::format("not JSON, at byte {}", error.byte)));
  } catch (const Mistake& mistake) {
    return std::unexpected(plan_error(mistake.what));
  }
}

}  // namespace kforge
