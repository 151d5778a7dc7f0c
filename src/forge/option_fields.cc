#include "forge/option_fields.h"

#include <concepts>

namespace kforge {
namespace {

void option_fields(auto&& field, auto& o) {
  auto& s = o.session;
  field("task", s.task);
  field("platform", s.platform);
  field("precision", s.precision);
  field("shape_set", s.shape_set);
  field("set", s.set);
  field("cold", s.cold);
  field("threads", s.threads);
  field("baselines", s.baselines);
  field("python", s.python);
  field("deterministic", s.deterministic);
  field("allow_libraries", s.allow_libraries);
  field("march", s.march);
  field("sandbox", s.sandbox);
  field("call_limit_seconds", s.call_limit_seconds);
  field("use_build_cache", s.use_build_cache);
  field("generators", o.generators);
  field("analyst", o.analyst);
  field("strategy", o.strategy);
  field("width", o.width);
  field("repairs", o.repairs);
  field("budget", o.budget);
  field("target", o.target);
  field("check", o.check_only);
  field("patience", o.patience);
  field("reference", o.reference);
  field("from", o.from);
  field("without", o.without);
  field("profilers", o.profilers);
  field("out", o.out);
  field("record", o.record);
  field("config", o.config);
  field("seconds", o.timing_seconds);
  field("rounds", o.timing_rounds);
  field("seed", o.seed);
  field("callers", o.callers);
}

struct OptionWriter {
  OptionMap& map;

  template <class T>
  requires std::constructible_from<OptionValue, T>
  void operator()(const char* key, const T& value) const { map[key] = value; }
  void operator()(const char* key, const std::filesystem::path& value) const { map[key] = value.string(); }
  void operator()(const char* key, const std::set<std::string>& value) const {
    map[key] = std::vector<std::string>(value.begin(), value.end());
  }
  void operator()(const char* key, const std::optional<double>& value) const {
    map[key] = value ? OptionValue(*value) : OptionValue();
  }
  void operator()(const char* key, const std::optional<SandboxTier>& value) const {
    map[key] = value ? OptionValue(static_cast<int>(*value)) : OptionValue();
  }
  void operator()(const char* key, const Budget& value) const { map[key] = to_text(value); }
};

struct OptionReader {
  const OptionMap& map;
  std::string& problem;

  template <class T>
  const T* find(const char* key) const {
    static const OptionValue kNothing;
    auto found = map.find(key);
    return std::get_if<T>(found == map.end() ? &kNothing : &found->second);
  }
  template <class T>
  T get(const char* key) const {
    if (const T* value = find<T>(key)) return *value;
    if (problem.empty()) problem = key;
    return {};
  }

  void operator()(const char* key, auto& value) const {
    value = get<std::remove_reference_t<decltype(value)>>(key);
  }
  // A whole number reads as either.
  void operator()(const char* key, double& value) const {
    const int* whole = find<int>(key);
    value = whole ? *whole : get<double>(key);
  }
  void operator()(const char* key, std::filesystem::path& value) const { value = get<std::string>(key); }
  void operator()(const char* key, std::set<std::string>& value) const {
    auto words = get<std::vector<std::string>>(key);
    value = {words.begin(), words.end()};
  }
  void operator()(const char* key, std::optional<double>& value) const {
    if (find<double>(key) || find<int>(key)) (*this)(key, value.emplace());
  }
  void operator()(const char* key, std::optional<SandboxTier>& value) const {
    if (const int* tier = find<int>(key)) value = static_cast<SandboxTier>(*tier);
  }
  void operator()(const char* key, Budget& value) const {
    std::string text = get<std::string>(key);
    if (text.empty()) return;
    if (auto budget = parse_budget(text))
      value = *budget;
    else if (problem.empty())
      problem = key;
  }
};

}  // namespace

OptionMap to_options(const ForgeOptions& options) {
  OptionMap map;
  option_fields(OptionWriter{map}, options);
  return map;
}

Result<ForgeOptions> options_from(const OptionMap& map) {
  ForgeOptions options;
  std::string problem;
  OptionMap known = map;
  known.try_emplace("set", std::vector<std::string>());  // runs recorded before there were these
  known.try_emplace("seed", 0);
  known.try_emplace("callers", true);
  known.try_emplace("check", false);
  option_fields(OptionReader{known, problem}, options);
  if (!problem.empty()) return fail("the store's record of the options cannot be read: {}", problem);
  return options;
}

}  // namespace kforge
