// The constants of an attention; the method itself is kernels/attention/attention.h.
#include <fmt/format.h>

#include "smith/attention/attention.h"
#include "smith/emit/cpp_expr.h"

namespace kforge::smith {
namespace {

// Expressions read tensors under names that end in an underscore, as the struct of pointers has them.
Expr renamed(const Expr& e) {
  return rewrite(e, [](const Expr& node) -> Expr {
    if (node->op != Op::kLoad || node->name == "sum_at") return nullptr;
    std::vector<Expr> position;
    for (const Expr& p : node->args) position.push_back(renamed(p));
    return load(node->name + "_", node->dtype, node->coefs, position);
  });
}

std::string score_function(const MatchedAttention& matched, std::set<std::string>& used) {
  std::map<std::string, TensorInfo> tensors;
  for (const auto& [name, info] : matched.tensors) {
    tensors[name + "_"] = info;
    tensors[name + "_"].name = name + "_";
  }
  tensors["sum_at"] = TensorInfo{"sum_at", DType::kFloat32, {1 << 30}};
  int counter = 0;
  CppScope scope;
  scope.tensors = &tensors;
  scope.used = &used;
  scope.counter = &counter;
  scope.lane_variable = "column";
  const CppValue value = cpp_value(scope, renamed(matched.attention.score));
  std::string text =
      "  // What the graph makes of a sum of products. Key: first + column.\n  template <class F>\n"
      "  static SMITH_INLINE F score(const Tensors& t, long batch, long query, long first, long column, "
      "const float* sum_at) {\n";
  for (const std::string& name : matched.attention.reads)
    text += fmt::format("    const {0}* {1}_ = t.{1}_;\n", c_type_of(matched.tensors.at(name).dtype), name);
  for (const std::string& line : value.lines) text += "    " + line + "\n";
  return text + fmt::format("    return {};\n  }}\n",
                            value.uniform ? fmt::format("set<F>({})", value.text) : value.text);
}

}  // namespace

std::string attention_source(const MatchedAttention& matched, const AttentionSchedule& schedule,
                             std::set<std::string>& used) {
  const Attention& a = matched.attention;
  used.insert("attention/attention.h");
  std::string text = fmt::format("// {}\nstruct {}_attention_config {{\n  struct Tensors {{\n",
                                 summary_of(matched, schedule), a.tensor);
  for (const auto& [name, info] : matched.tensors)
    text += fmt::format("    {}{}* {}_;\n", name == a.tensor ? "" : "const ", c_type_of(info.dtype), name);
  text += fmt::format(R"(  }};
  static constexpr long kBatch = {}, kQueries = {}, kKeys = {}, kDepth = {}, kWidth = {};
  static constexpr long kRows = {};    // queries of a piece of work
  static constexpr long kBlock = {};   // keys of a block
  static constexpr long kCausal = {};  // keys from query + kCausal on weigh nothing; 0: all count
  static constexpr long kQRow = {}, kQColumn = {}, kKRow = {}, kKColumn = {}, kVRow = {}, kYRow = {};
)",
                      a.batch, a.queries, a.keys, a.depth, a.width, schedule.rows, schedule.keys, a.causal,
                      a.q.row, a.q.column, a.k.row, a.k.column, a.v.row, a.y.row);
  const CppScope scope;
  const auto pointer = [&](std::string_view name, const AttentionOperand& o, std::string_view constant) {
    text += fmt::format(
        "  static {}float* {}(const Tensors& t, [[maybe_unused]] long batch) {{ return t.{}_ + {}; }}\n",
        constant, name, o.tensor, position_text(scope, o.base));
  };
  pointer("q", a.q, "const ");
  pointer("k", a.k, "const ");
  pointer("v", a.v, "const ");
  pointer("y", a.y, "");
  text += score_function(matched, used);
  return text + fmt::format("}};\nusing {0}_attention = AttentionKernel<{0}_attention_config>;\n", a.tensor);
}

std::string summary_of(const MatchedAttention& matched, const AttentionSchedule& schedule) {
  const Attention& a = matched.attention;
  return fmt::format(
      "{} is attention in one pass: {} queries at a time meet blocks of {} keys; a running maximum and sum "
      "take "
      "the place of the {} x {} scores, which never reach memory{}",
      a.tensor, schedule.rows, schedule.keys, a.queries, a.keys,
      a.causal > 0 ? "; blocks that the mask hides are left out" : "");
}

}  // namespace kforge::smith
