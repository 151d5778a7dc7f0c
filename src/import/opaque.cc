#include "import/opaque.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace kforge {
namespace {

constexpr int kMostLooks = 4;

// A dimension of one of the module's tensors.
struct Place {
  char part;  // 'i'nput, 's'tate, 'o'utput
  std::size_t tensor, axis;
  auto operator<=>(const Place&) const = default;
};

std::map<Place, std::int64_t> extents_of(const ModuleFacts& facts) {
  std::map<Place, std::int64_t> out;
  auto add = [&](char part, const std::vector<TensorFacts>& tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i)
      for (std::size_t axis = 0; axis < tensors[i].shape.size(); ++axis)
        out[{part, i, axis}] = tensors[i].shape[axis];
  };
  add('i', facts.inputs);
  add('s', facts.states);
  add('o', facts.outputs);
  return out;
}

// As task.h and the graph's text can show it.
std::string identifier(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ? "_" + name : name;
}

bool same_ranks(const ModuleFacts& a, const ModuleFacts& b) {
  auto rank = [](const TensorFacts& one) { return one.shape.size(); };
  auto same = [&](const std::vector<TensorFacts>& x, const std::vector<TensorFacts>& y) {
    return std::ranges::equal(x, y, {}, rank, rank);
  };
  return same(a.inputs, b.inputs) && same(a.states, b.states) && same(a.outputs, b.outputs);
}

class OpaqueFinder {
 public:
  OpaqueFinder(Bridge& bridge, const std::string& source, const Values& real)
      : bridge_(bridge), source_(source), real_(real) {}

  Result<SizedGraph> find(const std::string& why) {
    sized_.opaque = why;
    sized_.exporter = "none";
    for (int pass = 0; pass < kMostLooks; ++pass) {
      KF_TRY(bool settled, look_once());
      if (settled) break;
    }
    KF_TRY_VOID(name_symbols());
    KF_TRY_VOID(fill_sets());
    make_graph();
    return std::move(sized_);
  }

 private:
  // What follows each number; numbers that nothing follows are fixed, and the others looked at again.
  Result<bool> look_once() {
    Values pinned;
    for (const auto& [name, why] : sized_.fixed) pinned[name] = real_.at(name);
    KF_TRY(sized_.small, small_numbers(bridge_, real_, pinned, {}, 0, true));
    KF_TRY(sized_.facts, told(sized_.small));
    places_.clear();
    plain_.clear();
    seen_.clear();
    for (const auto& [place, extent] : extents_of(sized_.facts)) seen_[place] = {extent};
    sized_.odd = sized_.small;
    bool settled = true;
    for (const auto& [name, value] : real_) {
      if (sized_.fixed.contains(name)) continue;
      if (auto why = follow(name)) {
        sized_.fixed[name] = *why;
        settled = settled && sized_.small.at(name) == value;
      }
    }
    return settled;
  }

  // Notes which dimensions follow the number; or why it is no size.
  std::optional<std::string> follow(const std::string& name) {
    if (real_.at(name) < 2) return "0 and 1 are no sizes that grow";
    const std::int64_t base = sized_.small.at(name);
    std::string failure = "no shape follows it";
    for (std::int64_t size : other_sizes(base)) {
      Values values = sized_.small;
      values[name] = size;
      auto other = described(bridge_, "describe_opaque", values);
      if (!other) {
        failure = fmt::format("the module fails with {}: {}", size, other.error().message);
        continue;
      }
      if (!same_ranks(*other, sized_.facts)) return "the module has other tensors with another value";
      const auto before = extents_of(sized_.facts), after = extents_of(*other);
      std::set<Place> changed;
      for (const auto& [place, extent] : before)
        if (after.at(place) != extent) changed.insert(place);
      if (changed.empty()) return "no shape follows it";
      for (const Place& place : changed)
        if (place.part == 's' && !sized_.facts.states[place.tensor].parameter)
          return fmt::format("the table {} has its size", sized_.facts.states[place.tensor].name);
      for (const auto& [place, extent] : after) seen_[place].push_back(extent);
      for (const Place& place : changed) {
        places_[place].insert(name);
        if (before.at(place) == base && after.at(place) == size) plain_.insert({place, name});
      }
      sized_.odd[name] = size;
      return std::nullopt;
    }
    return failure;
  }

  Result<ModuleFacts> told(const Values& values) {
    auto facts = described(bridge_, "describe_opaque", values);
    if (!facts) return std::unexpected(bridge_.error(facts.error()));
    return *facts;
  }

  std::string tensor_name(const Place& place) const {
    if (place.part == 'i') return input_names_[place.tensor];
    if (place.part == 's') return state_names_[place.tensor];
    return output_name(place.tensor);
  }
  std::string output_name(std::size_t index) const {
    return sized_.facts.outputs.size() == 1 ? "y" : fmt::format("y{}", index);
  }

  // A dimension that is the number is called by its name; one that is computed from numbers gets a name of
  // its own, together with all that were the same at every choice of sizes.
  Result<void> name_symbols() {
    KF_TRY_VOID(name_tensors());
    std::map<std::vector<std::int64_t>, std::string> computed;
    for (const auto& [place, numbers] : places_) {
      const std::string& first = *numbers.begin();
      if (numbers.size() == 1 && plain_.contains({place, first})) {
        symbols_[place] = first;
      } else if (auto same = computed.find(seen_.at(place)); same != computed.end()) {
        symbols_[place] = same->second;
      } else {
        std::string name = fmt::format("{}_{}", tensor_name(place), place.axis);
        while (real_.contains(name)) name += "_";
        symbols_[place] = computed[seen_.at(place)] = name;
        sized_.derived.insert(name);
      }
      for (const std::string& number : numbers) sized_.symbols.insert(number);
    }
    sized_.symbols.insert(sized_.derived.begin(), sized_.derived.end());
    return {};
  }

  Result<void> name_tensors() {
    std::set<std::string> taken{"numbers"};
    auto free = [&](const std::string& wanted) {
      std::string name = identifier(wanted);
      while (!taken.insert(name).second) name += "_";
      return name;
    };
    for (std::size_t i = 0; i < sized_.facts.outputs.size(); ++i) taken.insert(output_name(i));
    for (const TensorFacts& one : sized_.facts.inputs) input_names_.push_back(free(one.name));
    for (const TensorFacts& one : sized_.facts.states) state_names_.push_back(free(one.name));
    return {};
  }

  // The two shape sets, with the dimensions that are computed. Where the odd sizes do not fit together, small
  // ones stand in for them.
  Result<void> fill_sets() {
    auto put = [&](const ModuleFacts& facts, Values& values) {
      const auto extents = extents_of(facts);
      for (const auto& [place, symbol] : symbols_)
        if (sized_.derived.contains(symbol)) values[symbol] = extents.at(place);
    };
    auto odd = described(bridge_, "describe_opaque", sized_.odd);
    if (!odd || !same_ranks(*odd, sized_.facts)) sized_.odd = sized_.small;
    put(odd && same_ranks(*odd, sized_.facts) ? *odd : sized_.facts, sized_.odd);
    put(sized_.facts, sized_.small);
    return {};
  }

  Value value_of(const std::string& name, char part, std::size_t index, const TensorFacts& facts) const {
    Value value{name, {}};
    value.type.dtype = facts.dtype;
    for (std::size_t axis = 0; axis < facts.shape.size(); ++axis) {
      auto symbol = symbols_.find({part, index, axis});
      value.type.dims.push_back(symbol == symbols_.end() ? Dim{facts.shape[axis], {}}
                                                         : Dim{-1, symbol->second});
    }
    return value;
  }

  void make_graph() {
    Graph& graph = sized_.graph;
    graph.name = "opaque";
    std::vector<std::string> numbers, entries, arguments, types;
    for (const auto& [name, value] : real_) {
      numbers.push_back(name);
      entries.push_back(sized_.symbols.contains(name) ? name : std::to_string(value));
    }
    Node dims{.name = "numbers_of_the_file", .op = "Dims", .domain = "kforge", .outputs = {"numbers"}};
    dims.attributes["of"] = entries;
    Node module{.name = "module", .op = "Opaque", .domain = "kforge", .inputs = {"numbers"}};
    auto add = [&](const std::string& name, char part, std::size_t index, const TensorFacts& facts) {
      graph.inputs.push_back(value_of(name, part, index, facts));
      module.inputs.push_back(name);
      arguments.push_back((part == 'i' ? "input:" : "state:") + facts.name);
    };
    for (std::size_t i = 0; i < input_names_.size(); ++i)
      add(input_names_[i], 'i', i, sized_.facts.inputs[i]);
    for (std::size_t i = 0; i < state_names_.size(); ++i) {
      add(state_names_[i], 's', i, sized_.facts.states[i]);
      sized_.states[state_names_[i]] = i;
    }
    for (std::size_t i = 0; i < sized_.facts.outputs.size(); ++i) {
      graph.outputs.push_back(value_of(output_name(i), 'o', i, sized_.facts.outputs[i]));
      module.outputs.push_back(output_name(i));
      types.emplace_back(name_of(sized_.facts.outputs[i].dtype));
    }
    module.attributes = {
        {"source", source_}, {"numbers", numbers}, {"arguments", arguments}, {"types", types}};
    graph.nodes = {dims, module};
    for (const Value& value : graph.inputs) graph.types[value.name] = value.type;
    for (const Value& value : graph.outputs) graph.types[value.name] = value.type;
  }

  Bridge& bridge_;
  const std::string& source_;
  const Values& real_;
  SizedGraph sized_;
  std::map<Place, std::set<std::string>> places_;    // the numbers that each dimension follows
  std::set<std::pair<Place, std::string>> plain_;    // of those: it is the number
  std::map<Place, std::vector<std::int64_t>> seen_;  // each dimension at every choice of sizes tried
  std::map<Place, std::string> symbols_;
  std::vector<std::string> input_names_, state_names_;
};

}  // namespace

Result<SizedGraph> opaque_graph(Bridge& bridge, const std::string& source, const Values& real,
                                const std::string& why) {
  return OpaqueFinder(bridge, source, real).find(why);
}

Result<void> add_derived(Bridge& bridge, const SizedGraph& sized, Values& values) {
  if (sized.derived.empty()) return {};
  Values numbers = values;
  for (const std::string& name : sized.derived) numbers.erase(name);
  auto facts = described(bridge, "describe_opaque", numbers);
  if (!facts) return std::unexpected(bridge.error(facts.error()));
  std::size_t input = 0;
  auto put = [&](const Value& value, const TensorFacts& tensor) {
    for (std::size_t axis = 0; axis < std::min(value.type.dims.size(), tensor.shape.size()); ++axis)
      if (const std::string& symbol = value.type.dims[axis].symbol; sized.derived.contains(symbol))
        values[symbol] = tensor.shape[axis];
  };
  for (const Value& value : sized.graph.inputs) {
    auto state = sized.states.find(value.name);
    if (state != sized.states.end() && state->second < facts->states.size())
      put(value, facts->states[state->second]);
    else if (state == sized.states.end() && input < facts->inputs.size())
      put(value, facts->inputs[input++]);
  }
  for (std::size_t i = 0; i < std::min(sized.graph.outputs.size(), facts->outputs.size()); ++i)
    put(sized.graph.outputs[i], facts->outputs[i]);
  return {};
}

}  // namespace kforge
