#include "import/import.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/memory.h"
#include "base/nearest.h"
#include "base/readable.h"
#include "base/text.h"
#include "generate/quote.h"
#include "graph/cost.h"
#include "graph/own_model.h"
#include "import/fit.h"
#include "import/opaque.h"

namespace kforge {
namespace {

using nlohmann::json;

constexpr double kGuessedFlops = 3e10, kGuessedBytes = 4e9;  // per second: what any processor of today does
constexpr double kTimingSeconds = 0.3;
// Of a call's tensors. Judging holds several sets of them, for every program that is timed: about ten times
// as much, so that a task of a suite stays below 4 GB.
constexpr double kMostFittedBytes = 256 << 20;
constexpr std::size_t kLongestReason = 240;

// "level2/33_Gemm_Scale_BatchNorm.py" says where it comes from.
std::string origin_of(const fs::path& file) {
  std::smatch level, id;
  std::string folder = fs::absolute(file).parent_path().filename().string(), stem = file.stem().string();
  if (!std::regex_match(folder, level, std::regex("level_?([0-9]+)")) ||
      !std::regex_match(stem, id, std::regex("([0-9]+)_.*")))
    return "";
  return fmt::format("KernelBench level {} #{}", level[1].str(), id[1].str());
}

std::string name_of_file(const fs::path& file) {
  std::string name = file.stem().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name.empty() ? "module" : name;
}

// The first sentence of a docstring, on one line.
std::string first_sentence(const std::string& doc, const std::string& name) {
  std::string line;
  for (char c : printable(doc)) {
    if (c == '\n' || c == '\t') c = ' ';
    if (c == ' ' && (line.empty() || line.back() == ' ')) continue;
    line += c;
    if (c == '.' || line.size() >= 160) break;
  }
  std::string text(trimmed(line));
  return text.empty() ? "the module " + name : text;
}

class Importer {
 public:
  Importer(const ImportOptions& options, Bridge& bridge, Progress& progress)
      : options_(options), bridge_(bridge), progress_(progress) {}

  Result<ImportedTask> import() {
    task_.name = name_of_file(options_.file);
    task_.origin = origin_of(options_.file);
    KF_TRY(task_.source, read_file(options_.file));
    progress_.stage("starting PyTorch");
    KF_TRY(json hello, asked({{"do", "hello"}}));
    task_.torch = hello.at("torch").get<std::string>();
    KF_TRY(task_.real, numbers(hello.at("constants").get<Values>()));
    task_.bench = task_.real;
    // A module that does not run is told so once, not by every way to a graph of it.
    KF_TRY_VOID(small_numbers(bridge_, task_.real, {}, {}, 0, true));
    progress_.stage("exporting the module");
    KF_TRY_VOID(find_graph(hello.at("exporters").get<std::vector<std::string>>()));
    KF_TRY_VOID(note_facts());
    if (options_.fit_seconds > 0) KF_TRY_VOID(fit());
    if (!task_.sized.derived.empty()) KF_TRY_VOID(find_derived());
    progress_.stage("looking at the values");
    KF_TRY_VOID(note_distributions());
    KF_TRY_VOID(keep_buffers());
    return std::move(task_);
  }

 private:
  Result<json> asked(const json& request) {
    auto answer = bridge_.ask(request);
    if (!answer) return std::unexpected(bridge_.error(answer.error()));
    return *answer;
  }

  Result<Values> numbers(Values constants) {
    std::vector<std::string> known;
    for (const auto& [name, value] : constants) known.push_back(name);
    for (const auto& [name, value] : options_.set) {
      if (!constants.contains(name))
        return fail_with_remedy(known.empty()
                                    ? "a number can be set that stands at the top of the file: NAME = 64"
                                    : "the file sets: " + joined(known),
                                fmt::format("{} sets no whole number '{}'{}", options_.file.string(), name,
                                            did_you_mean(name, known)));
      constants[name] = value;
    }
    return constants;
  }

  static std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
  }

  // The first exporter whose graph computes what the module does.
  Result<void> find_graph(const std::vector<std::string>& exporters) {
    std::string reasons;
    for (const std::string& exporter : exporters) {
      if (options_.exporter != "auto" && options_.exporter != exporter) continue;
      auto sized = find_sizes(bridge_, task_.real, exporter);
      if (sized && sized->agreement.good()) {
        task_.sized = std::move(*sized);
        return {};
      }
      std::string reason =
          sized ? "its graph " + sized->agreement.text() + " from the module" : sized.error().text();
      reasons += fmt::format("{}exporter {}: {}", reasons.empty() ? "" : "; ", exporter, reason);
    }
    if (reasons.empty())
      return fail_with_remedy("pip install torch onnxscript for the exporter 'dynamo'",
                              fmt::format("PyTorch {} has no exporter '{}'", task_.torch, options_.exporter));
    if (options_.exporter != "auto") return fail("{}", reasons);
    return find_opaque(reasons);
  }

  // No exporter can tell what the module computes: it stays the reference itself, where it runs at all.
  Result<void> find_opaque(const std::string& reasons) {
    progress_.stage("taking the module as it is");
    KF_TRY(task_.sized, opaque_graph(bridge_, task_.source, task_.real, reasons));
    task_.flags.push_back("opaque");
    task_.notes.push_back("opaque: the module itself is the reference, since there is no graph of it (" +
                          single_line(reasons, kLongestReason) + ")");
    return {};
  }

  Result<void> note_facts() {
    KF_TRY(json facts, asked({{"do", "facts"}, {"values", small()}}));
    task_.description = first_sentence(facts.value("doc", ""), task_.name);
    const json plain = facts.value("plain_values", json::object());
    for (const auto& [name, text] : plain.items())
      task_.notes.push_back(
          fmt::format("the argument {} is {}, part of the graph", name, text.get<std::string>()));
    if (facts.value("batch_statistics", false))
      task_.notes.push_back(
          "batch normalisation uses the statistics of the batch, as KernelBench runs modules");
    if (!facts.at("dropouts").empty()) {
      task_.flags.push_back("stochastic");
      task_.notes.push_back(fmt::format("the module's dropout of {} is random; here it passes values through",
                                        facts["dropouts"][0].dump()));
    }
    if (facts.value("random", false)) {
      task_.flags.push_back("stochastic");
      task_.notes.push_back("the module draws random values: it gives other results for the same inputs");
    }
    if (facts.value("keeps_state", false))
      task_.notes.push_back(
          "the module keeps state from one call to the next; every call is judged as its first");
    if (facts.value("constant", false)) {
      task_.flags.push_back("constant");
      task_.notes.push_back("the module gives the same result for other inputs");
    }
    return {};
  }

  // Without the dimensions that are no numbers of the file.
  Values numbers_of(Values values) const {
    for (const std::string& name : task_.sized.derived) values.erase(name);
    return values;
  }
  Values small() const { return numbers_of(task_.sized.small); }

  // The cost of a call at these numbers; nothing where the graph does not take them.
  std::optional<std::pair<double, double>> guess(const Values& values) const {
    if (!task_.sized.opaque.empty()) return opaque_guess(values);
    Values dims;
    for (const std::string& symbol : task_.sized.symbols) dims[symbol] = values.at(symbol);
    auto bound = bind_dims(task_.sized.graph, dims);
    if (!bound) return std::nullopt;
    GraphCost cost = count_cost(*bound);
    double largest = 0;
    for (const auto& [name, type] : bound->types)
      if (type.concrete())
        largest = std::max(largest, static_cast<double>(element_count(type.shape())) *
                                        static_cast<double>(size_of(type.dtype)));
    return std::pair{cost.flops / kGuessedFlops + cost.compulsory_bytes / kGuessedBytes,
                     cost.compulsory_bytes + 3 * largest};
  }

  // Nobody knows what an opaque module computes: of the dimensions that are numbers the tensors' bytes are
  // known.
  std::optional<std::pair<double, double>> opaque_guess(const Values& values) const {
    double bytes = 0;
    auto add = [&](const Value& value) {
      auto one = static_cast<double>(size_of(value.type.dtype));
      for (const Dim& dim : value.type.dims) {
        auto found = values.find(dim.symbol);
        auto small = task_.sized.small.find(dim.symbol);
        one *= static_cast<double>(dim.known()                        ? dim.value
                                   : found != values.end()            ? found->second
                                   : small != task_.sized.small.end() ? small->second
                                                                      : 1);
      }
      bytes += one;
    };
    for (const Value& input : task_.sized.graph.inputs) add(input);
    for (const Value& output : task_.sized.graph.outputs) add(output);
    return std::pair{bytes / kGuessedBytes, 4 * bytes};
  }

  // Leading dimensions first: a smaller batch leaves the kind of problem as it is.
  std::vector<std::string> symbols_by_preference() const {
    std::vector<std::string> out;
    auto add = [&](const std::string& symbol) {
      if (!symbol.empty() && std::ranges::find(out, symbol) == out.end()) out.push_back(symbol);
    };
    for (const Value& input : task_.sized.graph.inputs)
      if (!task_.sized.states.contains(input.name) && !input.type.dims.empty())
        add(input.type.dims[0].symbol);
    std::erase_if(out, [&](const std::string& name) { return task_.sized.derived.contains(name); });
    std::vector<std::string> rest;
    std::ranges::set_difference(task_.sized.symbols, task_.sized.derived, std::back_inserter(rest));
    std::ranges::sort(rest, std::greater{}, [&](const std::string& name) { return task_.real.at(name); });
    std::ranges::for_each(rest, add);
    return out;
  }

  Result<void> fit() {
    progress_.stage("looking for sizes");
    FitQuestions questions;
    questions.guess = [&](const Values& values) { return guess(values); };
    questions.measure = [&](Values values) -> std::optional<double> {
      make_equal(values, task_.sized.equal);
      auto answer = bridge_.ask({{"do", "time"}, {"values", values}, {"seconds", kTimingSeconds}});
      if (!answer || !answer->contains("seconds") || !(*answer)["seconds"].is_number()) return std::nullopt;
      return (*answer)["seconds"].get<double>();
    };
    const double memory = static_cast<double>(physical_memory()) / 8;
    const auto symbols = symbols_by_preference();
    auto fitted =
        fit_sizes(task_.real, symbols, options_.fit_seconds, std::min(kMostFittedBytes, memory), questions);
    if (!fitted)  // a layer whose size is fixed may be larger by itself
      fitted = fit_sizes(task_.real, symbols, options_.fit_seconds, memory, questions);
    if (!fitted) {
      task_.notes.push_back(fitted.error().message + "; its own sizes stand");
      return {};
    }
    task_.bench = fitted->values;
    make_equal(task_.bench, task_.sized.equal);
    task_.module_seconds = fitted->seconds;
    std::string words;
    for (const std::string& name : fitted->made_smaller)
      words += fmt::format("{}{} = {} instead of {}", words.empty() ? "" : ", ", name,
                           fitted->values.at(name), task_.real.at(name));
    if (!words.empty())
      task_.notes.push_back(fmt::format("smaller than in the file: {} (the module then takes {})", words,
                                        readable_time(fitted->seconds * 1e9)));
    return {};
  }

  // At the module's own sizes it may need more than there is: then they are told of no shape set.
  Result<void> find_derived() {
    progress_.stage("running the module at its own sizes");
    const bool fitted = task_.bench != task_.real;
    KF_TRY_VOID(add_derived(bridge_, task_.sized, task_.bench));
    if (!fitted) {
      task_.real = task_.bench;
    } else if (auto full = add_derived(bridge_, task_.sized, task_.real); !full) {
      task_.notes.push_back("the file's own sizes cannot be run here: " +
                            single_line(full.error().message, kLongestReason));
      task_.real = task_.bench;
    }
    return {};
  }

  Result<void> note_distributions() {
    auto answer =
        bridge_.ask({{"do", "distributions"}, {"values", numbers_of(task_.bench)}, {"small", small()}});
    if (!answer)  // the module may be too large to build: weights are then drawn as the graph suggests
      answer = bridge_.ask({{"do", "distributions"}, {"values", small()}, {"small", small()}});
    if (!answer) return std::unexpected(bridge_.error(answer.error()));
    auto inputs = answer->at("inputs").get<std::map<std::string, std::string>>();
    auto states = answer->at("states").get<std::map<std::string, std::string>>();
    for (const Value& input : task_.sized.graph.inputs) {
      auto state = task_.sized.states.find(input.name);
      const auto& from = state == task_.sized.states.end() ? inputs : states;
      auto found = from.find(
          state == task_.sized.states.end() ? input.name : task_.sized.facts.states[state->second].name);
      if (found != from.end() && !found->second.empty()) task_.values[input.name] = found->second;
    }
    return {};
  }

  // Buffers (masks, tables, running statistics) are what the module computes with: they keep their values.
  Result<void> keep_buffers() {
    SizedGraph& sized = task_.sized;
    std::set<std::size_t> wanted;
    for (const auto& [name, index] : sized.states)
      if (!sized.facts.states[index].parameter) wanted.insert(index);
    if (wanted.empty()) return {};
    std::string prefix = bridge_.new_prefix();
    json request{{"do", "sample"}, {"values", sized.small}, {"prefix", prefix}, {"states", wanted}};
    if (!sized.opaque.empty()) request = {{"do", "tables"}, {"values", small()}, {"prefix", prefix}};
    KF_TRY(json done, asked(request));
    for (auto state = sized.states.begin(); state != sized.states.end();) {
      const TensorFacts& facts = sized.facts.states[state->second];
      if (facts.parameter) {
        ++state;
        continue;
      }
      KF_TRY(std::string bytes,
             bridge_.product(fmt::format("{}state_{}", prefix, state->second), facts.bytes() + 1));
      if (bytes.size() != facts.bytes()) return fail("the table {} came in part", facts.name);
      give_values(sized.graph, state->first, facts.dtype, facts.shape, bytes);
      task_.values.erase(state->first);
      state = sized.states.erase(state);
    }
    return {};
  }

  const ImportOptions& options_;
  Bridge& bridge_;
  Progress& progress_;
  ImportedTask task_;
};

}  // namespace

Result<ImportedTask> import_module(const ImportOptions& options, Progress& progress) {
  KF_TRY(PythonFacts python, python_with_torch(options.python));
  SandboxTier tier = SandboxTier::kBubblewrap;
  if (options.sandbox) {
    tier = *options.sandbox;
  } else {
    KF_TRY(tier, strongest_tier());
  }
  KF_TRY(std::unique_ptr<Bridge> bridge, Bridge::open(python, options.file, tier));
  try {
    return Importer(options, *bridge, progress).import();
  } catch (const json::exception&) {  // the user's program wrote into the channel
    return fail("{}: the module's process answered with something else than asked for",
                options.file.string());
  }
}

}  // namespace kforge
