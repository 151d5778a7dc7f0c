#include "import/sizes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "base/text.h"
#include "graph/own_model.h"

namespace kforge {
namespace {

using nlohmann::json;

constexpr int kPasses = 6;
constexpr std::int64_t kSmall[] = {16, 32, 64, 128, 256, 512, 1024};
constexpr std::size_t kLargerStart = 2;  // of kSmall
constexpr std::size_t kLargestModel = std::size_t{1} << 30;
constexpr std::chrono::seconds kExportLimit{240};

bool same_shapes(const ModuleFacts& a, const ModuleFacts& b) {
  auto same = [](const std::vector<TensorFacts>& x, const std::vector<TensorFacts>& y) {
    return std::ranges::equal(x, y, {}, &TensorFacts::shape, &TensorFacts::shape);
  };
  return same(a.inputs, b.inputs) && same(a.states, b.states) && same(a.outputs, b.outputs);
}

// Halved while it stays whole, so that what must divide it mostly still does. Of a batch two are
// enough, unless another size must be the same.
std::int64_t shrunk(const std::string& name, std::int64_t value, std::int64_t target, bool small_batch) {
  if (small_batch && lower_case(name).find("batch") != std::string::npos)
    return std::min<std::int64_t>(value, 2);
  std::int64_t out = value;
  while (out > target && out % 2 == 0) out /= 2;
  return out > target ? target : out;
}

class Finder {
 public:
  Finder(Bridge& bridge, const Values& real, const std::string& exporter)
      : bridge_(bridge), real_(real), exporter_(exporter) {}

  Result<SizedGraph> find() {
    KF_TRY(SizedGraph found, find_from(0, true));
    if (found.agreement.good()) return found;
    // Statistics of a batch of two are hardly more than signs, which the last bit decides: in a deep module
    // no two ways of computing agree then. With more values they do, or the graph is wrong.
    sized_ = {};
    auto larger = find_from(kLargerStart, false);
    return larger && larger->agreement.good() ? std::move(larger) : std::move(found);
  }

 private:
  // `first` of kSmall is tried first.
  Result<SizedGraph> find_from(std::size_t first, bool small_batch) {
    first_ = first;
    small_batch_ = small_batch;
    KF_TRY_VOID(choose_base());
    // A number that turns out to be fixed gets its real value, which may change what the others are.
    for (int pass = 0; pass < kPasses; ++pass) {
      KF_TRY(bool settled, look_once());
      if (settled) return std::move(sized_);
    }
    for (const auto& [name, value] : real_) fix(name, "it does not stay a size when others change");
    KF_TRY(bool settled, look_once());
    (void)settled;
    return std::move(sized_);
  }

  // With what must be equal to it.
  Values changed(Values values, const std::string& name, std::int64_t value) const {
    values[name] = value;
    make_equal(values, sized_.equal);
    return values;
  }

  // Fixed, or no more than another's shadow.
  bool decided(const std::string& name) const {
    return sized_.fixed.contains(name) || sized_.equal.contains(name);
  }

  std::expected<ModuleFacts, BridgeFailure> describe(const Values& values) {
    return described(bridge_, "describe", values);
  }

  Result<ExportedGraph> exported(const Values& values, const ModuleFacts& facts) {
    std::string file = bridge_.new_prefix() + "graph.onnx";
    auto answer = bridge_.ask({{"do", "export"}, {"values", values}, {"exporter", exporter_}, {"file", file}},
                              kExportLimit);
    if (!answer) return std::unexpected(bridge_.error(answer.error()));
    KF_TRY(std::string bytes, bridge_.product(file, kLargestModel));
    KF_TRY(Graph graph, reloaded(bytes));
    return tidy_export(std::move(graph), facts);
  }

  Result<Graph> reloaded(const std::string& bytes) {
    KF_TRY(TempDir folder, TempDir::create());
    fs::path path = folder.path() / "graph.onnx";
    KF_TRY_VOID(write_scratch_file(path, bytes));
    auto graph = load_graph(path.string());
    // The path of a scratch file tells the user nothing.
    if (!graph && graph.error().message.starts_with(path.string() + ": "))
      graph.error().message.erase(0, path.string().size() + 2);
    return graph;
  }

  Result<void> choose_base() {
    Values pinned;
    for (const auto& [name, why] : sized_.fixed) pinned[name] = real_.at(name);
    KF_TRY(base_, small_numbers(bridge_, real_, pinned, sized_.equal, first_, small_batch_));
    return {};
  }

  void fix(const std::string& name, const std::string& why) {
    sized_.fixed.try_emplace(name, why);
    base_[name] = real_.at(name);
    for (const auto& [follower, leader] : sized_.equal)
      if (leader == name) {
        sized_.fixed.try_emplace(follower, why);
        base_[follower] = real_.at(follower);
      }
    std::erase_if(sized_.equal, [&](const auto& pair) { return pair.second == name; });
  }

  // Fixes what is no size; false: something was, and the others must be looked at again.
  Result<bool> look_once() {
    auto described = describe(base_);
    if (!described) {  // what is fixed now may need the others larger: groups that divide channels
      KF_TRY_VOID(choose_base());
      described = describe(base_);
    }
    if (!described) return std::unexpected(bridge_.error(described.error()));
    facts_ = *described;
    KF_TRY(ExportedGraph base, exported(base_, facts_));
    std::map<std::string, SymbolPlaces> symbols;
    std::map<std::string, std::string> no_sizes;  // fixed after the pass: all are compared with one base
    Values odd = base_;
    bool again = false;
    for (const auto& [name, value] : real_) {
      if (decided(name)) continue;
      auto places = places_of(name, base, odd[name]);
      if (places) {
        symbols[name] = *places;
        continue;
      }
      again |= base_.at(name) != value;
      odd[name] = value;
      no_sizes[name] = places.error();
    }
    for (const auto& [name, why] : no_sizes) fix(name, why);
    make_equal(odd, sized_.equal);
    if (again) return false;
    auto graph = with_symbols(base.graph, symbols);
    if (!graph) {
      fix(graph.error().first, graph.error().second);
      return false;
    }
    return settle(base, *graph, symbols, odd);
  }

  std::expected<SymbolPlaces, std::string> places_of(const std::string& name, const ExportedGraph& base,
                                                     std::int64_t& odd) {
    if (real_.at(name) < 2) return std::unexpected("0 and 1 are no sizes that grow");
    std::string failure;
    for (std::int64_t value : other_sizes(base_.at(name))) {
      Values values = changed(base_, name, value);
      auto facts = describe(values);
      if (!facts) {
        if (failure.empty())
          failure = "the module fails with " + std::to_string(value) + ": " + facts.error().message;
        continue;
      }
      if (same_shapes(*facts, facts_)) return std::unexpected("no shape follows it");
      auto other = exported(values, *facts);
      if (!other) return std::unexpected(other.error().message);
      auto places = places_of_symbol(base.graph, base_.at(name), other->graph, value);
      if (!places) return places;
      for (const auto& [tensor, axis] : places->dims)
        if (auto state = base.states.find(tensor);
            state != base.states.end() && !facts_.states[state->second].parameter)
          return std::unexpected(fmt::format("the table {} has its size", tensor));
      odd = value;
      return places;
    }
    if (failure.empty() || !find_equal(name)) return std::unexpected(failure);
    return places_of(name, base, odd);
  }

  // Alone the number cannot change. Two that are equal in the file may have to be: a loss whose targets are
  // broadcast along the other axis.
  bool find_equal(const std::string& name) {
    for (const auto& [other, value] : real_) {
      if (other <= name || decided(other) || value != real_.at(name) || base_.at(other) != base_.at(name))
        continue;
      for (std::int64_t size : other_sizes(base_.at(name))) {
        Values values = changed(base_, name, size);
        values[other] = size;
        if (!describe(values)) continue;
        sized_.equal[other] = name;
        return true;
      }
    }
    return false;
  }

  // The graph with symbols, checked against the module at two choices of sizes.
  Result<bool> settle(const ExportedGraph& base, const Graph& graph,
                      const std::map<std::string, SymbolPlaces>& symbols, const Values& odd) {
    KF_TRY(std::string bytes, to_own_model(graph));
    KF_TRY(sized_.graph, reloaded(bytes));
    sized_.exporter = exporter_;
    sized_.states = base.states;
    sized_.facts = facts_;
    sized_.small = base_;
    sized_.odd = odd;
    sized_.symbols.clear();
    for (const auto& [name, places] : symbols) sized_.symbols.insert(name);
    KF_TRY(sized_.agreement, module_agreement(bridge_, base_, sized_.graph, base.states, facts_));
    if (symbols.empty() || odd == base_ || !sized_.agreement.good()) return true;
    if (auto agreement = agreement_at(odd); agreement && agreement->good()) {
      sized_.odd_agreement = *agreement;
      return true;
    }
    return fix_those_that_differ(odd);
  }

  Result<Agreement> agreement_at(const Values& values) {
    auto facts = describe(values);
    if (!facts) return std::unexpected(bridge_.error(facts.error()));
    return module_agreement(bridge_, values, sized_.graph, sized_.states, *facts);
  }

  Result<bool> fix_those_that_differ(const Values& odd) {
    std::vector<std::string> culprits;
    for (const std::string& name : sized_.symbols) {
      auto agreement = agreement_at(changed(base_, name, odd.at(name)));
      if (!agreement || !agreement->good()) culprits.push_back(name);
    }
    // Each alone is right: they depend on each other (a window that must fit), and the first gives way.
    if (culprits.empty()) culprits.push_back(*sized_.symbols.begin());
    for (const std::string& name : culprits) fix(name, "the graph holds only for this size");
    return false;
  }

  Bridge& bridge_;
  const Values& real_;
  const std::string exporter_;
  std::size_t first_ = 0;
  bool small_batch_ = true;
  Values base_;
  ModuleFacts facts_;
  SizedGraph sized_;
};

}  // namespace

std::vector<std::int64_t> other_sizes(std::int64_t base) {
  return {base % 2 == 0 ? base + 1 : base + 2, base + 2, base + 4, 2 * base, 3 * base};
}

std::expected<ModuleFacts, BridgeFailure> described(Bridge& bridge, const char* request,
                                                    const Values& values) {
  auto answer = bridge.ask({{"do", request}, {"values", values}});
  if (!answer) return std::unexpected(answer.error());
  auto facts = module_facts(*answer);
  if (!facts) return std::unexpected(BridgeFailure{facts.error().message, "died"});
  return *facts;
}

Result<Values> small_numbers(Bridge& bridge, const Values& real, const Values& pinned,
                             const std::map<std::string, std::string>& equal, std::size_t first,
                             bool small_batch) {
  std::optional<BridgeFailure> failure;
  for (bool two : {true, false}) {
    if (two && !small_batch) continue;
    for (std::int64_t target : std::span(kSmall).subspan(first)) {
      Values values;
      for (const auto& [name, value] : real)
        values[name] = pinned.contains(name) ? value : shrunk(name, value, target, two);
      make_equal(values, equal);
      auto facts = described(bridge, "describe", values);
      if (facts) return values;
      // What ends the process at the smallest sizes does so at larger ones, after having taken more memory or
      // time.
      if (facts.error().whatever_the_sizes() || facts.error().kind == "died")
        return std::unexpected(bridge.error(facts.error()));
      if (!failure) failure = facts.error();
      if (values == real) return std::unexpected(bridge.error(*failure));
    }
  }
  auto facts = described(bridge, "describe", real);
  if (!facts) return std::unexpected(bridge.error(facts.error()));
  return real;
}

void make_equal(Values& values, const std::map<std::string, std::string>& equal) {
  for (const auto& [follower, leader] : equal) values[follower] = values.at(leader);
}

Result<SizedGraph> find_sizes(Bridge& bridge, const Values& real, const std::string& exporter) {
  return Finder(bridge, real, exporter).find();
}

}  // namespace kforge
