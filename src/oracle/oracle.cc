// Runs the nodes of a graph in order. A value is dropped as soon as its last reader has run.
#include "oracle/oracle.h"

#include <algorithm>
#include <map>
#include <new>
#include <set>

#include "oracle/chain_sum.h"
#include "oracle/nudge.h"
#include "oracle/operator_table.h"

namespace kforge {
namespace {

std::string quoted_operator(const Node& node) {
  return node.domain.empty() ? node.op : node.domain + "." + node.op;
}

// Values that a node reads, those of the bodies inside it included.
void collect_reads(const Node& node, std::set<std::string>& reads) {
  reads.insert(node.inputs.begin(), node.inputs.end());
  for (const auto& [name, attribute] : node.attributes)
    if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute); body && *body) {
      for (const Node& inner : (*body)->nodes) collect_reads(inner, reads);
      for (const Value& output : (*body)->outputs) reads.insert(output.name);
    }
}

// For every node the values whose last reader it is.
std::vector<std::vector<std::string>> last_reads(const Graph& graph) {
  std::set<std::string> needed;
  for (const Value& output : graph.outputs) needed.insert(output.name);
  std::vector<std::vector<std::string>> last(graph.nodes.size());
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    std::set<std::string> names;
    collect_reads(graph.nodes[i], names);
    names.insert(graph.nodes[i].outputs.begin(), graph.nodes[i].outputs.end());  // may have no reader at all
    for (const std::string& name : names)
      if (needed.insert(name).second) last[i].push_back(name);
  }
  return last;
}

// Whether each result of an operator sums up more values than one chain has (oracle/chain_sum.h).
template <class F>
bool sums_long(const Call<F>& call, const Outputs<F>& results) {
  static constexpr std::string_view kSums[] = {"BatchNormalization", "GlobalAveragePool",
                                               "NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"};
  const std::string& op = call.node.op;
  if (!op.starts_with("Reduce") && std::ranges::find(kSums, op) == std::end(kSums)) return false;
  if (results.empty() || !call.has(0)) return false;
  std::int64_t values = call.in(0).size(), sums = std::max<std::int64_t>(results[0].size(), 1);
  if (op == "BatchNormalization" && call.int_attr("training_mode", 0) != 0)
    sums = std::max<std::int64_t>(call.in(1).size(), 1);
  return values / sums > chain_length(0);
}

template <class F>
class Interpreter : public Scope<F> {
 public:
  // `draw`: 0 for the yardstick itself.
  Interpreter(const Graph& graph, int threads, std::uint64_t draw, Interpreter* around)
      : graph_(graph),
        threads_(threads),
        draw_(draw),
        around_(around),
        depth_(around ? around->depth_ + 1 : 0) {}

  void set(const std::string& name, Tensor<F> value) { values_.insert_or_assign(name, std::move(value)); }

  std::vector<Tensor<F>> run() {
    for (const Initializer& initializer : graph_.initializers)
      if (!values_.contains(initializer.name))
        set(initializer.name, Tensor<F>::from_constant(initializer.tensor));
    const auto last = last_reads(graph_);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      run_node(graph_.nodes[i]);
      for (const std::string& name : last[i]) values_.erase(name);
    }
    std::vector<Tensor<F>> results;
    for (const Value& output : graph_.outputs) {
      const Tensor<F>* value = find(output.name);
      if (!value) refuse("nothing computes the output {}", output.name);
      results.push_back(*value);
    }
    values_.clear();
    return results;
  }

  std::vector<Tensor<F>> run_body(const Graph& body, std::vector<Tensor<F>> inputs) override {
    constexpr int kDeepest = 64;
    if (depth_ >= kDeepest) refuse("graphs are nested more than {} deep", kDeepest);
    if (inputs.size() != body.inputs.size())
      refuse("graph {} has {} inputs, but gets {}", body.name, body.inputs.size(), inputs.size());
    Interpreter inner(body, threads_, draw_, this);
    for (std::size_t i = 0; i < inputs.size(); ++i) inner.set(body.inputs[i].name, std::move(inputs[i]));
    std::vector<Tensor<F>> results = inner.run();
    long_sums_ |= inner.long_sums_;
    return results;
  }

  bool long_sums() const { return long_sums_; }

 private:
  const Tensor<F>* find(const std::string& name) const {
    if (const auto found = values_.find(name); found != values_.end()) return &found->second;
    return around_ ? around_->find(name) : nullptr;
  }

  void run_node(const Node& node) {
    const Operator<F> compute = find_operator<F>(node);
    if (!compute)
      throw Refusal{fmt::format("operator {} is not supported by the oracle", quoted_operator(node)), true,
                    true};
    Call<F> call{node, {}, threads_, this};
    try {
      for (const std::string& input : node.inputs) {
        const Tensor<F>* value = input.empty() ? nullptr : find(input);
        if (!value && !input.empty()) refuse("nothing computes its input {}", input);
        call.inputs.push_back(value);
      }
      Outputs<F> results = compute(call);
      long_sums_ |= sums_long(call, results);
      if constexpr (std::is_same_v<F, float>)
        for (Tensor<F>& result : results) {
          if (rounds_always(node)) nudge(result, threads_);
          if (draw_ != 0 && computes(node)) jitter(result, draw_ + 0x10000 * ++jittered_, threads_);
        }
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i].empty()) continue;
        if (i >= results.size()) refuse("output {} is not computed", i);
        set(node.outputs[i], std::move(results[i]));
      }
    } catch (Refusal& refusal) {
      if (!refusal.names_node) refusal = explained(node, refusal);  // the innermost node is the one to name
      throw;
    } catch (const std::bad_alloc&) {
      throw explained(node, Refusal{"not enough memory"});
    }
  }

  static Refusal explained(const Node& node, const Refusal& refusal) {
    if (refusal.unsupported)
      return {fmt::format("operator {} ({}) is not supported by the oracle", quoted_operator(node),
                          refusal.message),
              true, true};
    return {fmt::format("{} ({}): {}", node.name, quoted_operator(node), refusal.message), false, true};
  }

  const Graph& graph_;
  const int threads_;
  const std::uint64_t draw_;
  Interpreter* const around_;
  const int depth_;
  std::map<std::string, Tensor<F>> values_;
  bool long_sums_ = false;
  std::uint64_t jittered_ = 0;  // results so far
};

template <class F>
std::vector<OracleTensor> interpret(const Graph& graph, std::span<const TensorView> inputs, int threads,
                                    std::uint64_t draw, bool* long_sums) {
  Interpreter<F> interpreter(graph, std::max(threads, 1), draw, nullptr);
  for (const TensorView& view : inputs) {
    if (!view.data && element_count(view.shape) != 0) refuse("input {} has no data", view.name);
    interpreter.set(view.name, Tensor<F>::from_raw(view.dtype, view.shape, view.data, threads));
  }
  std::vector<OracleTensor> results;
  for (Tensor<F>& tensor : interpreter.run()) results.push_back(std::move(tensor).release(threads));
  if (long_sums) *long_sums = interpreter.long_sums();
  return results;
}

// What the interpreter returns; what it throws as an Error.
template <class Run>
Result<std::vector<OracleTensor>> explained(const Graph& graph, std::span<const TensorView> inputs, Run run) {
  try {
    for (const Value& input : graph.inputs)
      if (std::none_of(inputs.begin(), inputs.end(),
                       [&](const TensorView& view) { return view.name == input.name; }))
        return fail("the graph's input {} has no value", input.name);
    return run();
  } catch (const Refusal& refusal) {
    return fail("{}", refusal.message);
  } catch (const std::bad_alloc&) {
    return fail("not enough memory to compute the graph {}", graph.name);
  }
}

void collect_missing(const Graph& graph, std::set<std::string>& missing) {
  for (const Node& node : graph.nodes) {
    if (!find_operator<double>(node)) missing.insert(quoted_operator(node));
    for (const auto& [name, attribute] : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute); body && *body)
        collect_missing(**body, missing);
  }
}

}  // namespace

Result<std::vector<OracleTensor>> run_oracle(const Graph& graph, std::span<const TensorView> inputs,
                                             Precision precision, int threads, bool* long_sums) {
  return explained(graph, inputs, [&] {
    return precision == Precision::kFp64 ? interpret<double>(graph, inputs, threads, 0, long_sums)
                                         : interpret<float>(graph, inputs, threads, 0, long_sums);
  });
}

Result<std::vector<OracleTensor>> run_oracle_rounding_otherwise(const Graph& graph,
                                                                std::span<const TensorView> inputs,
                                                                int threads, std::uint64_t draw) {
  return explained(graph, inputs, [&] { return interpret<float>(graph, inputs, threads, draw, nullptr); });
}

bool oracle_supports(const Graph& graph, std::vector<std::string>* missing) {
  std::set<std::string> names;
  collect_missing(graph, names);
  if (missing) missing->assign(names.begin(), names.end());
  return names.empty();
}

}  // namespace kforge
