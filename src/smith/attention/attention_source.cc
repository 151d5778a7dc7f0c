// The kernel of an attention as C++. Sizes are constants, so that the compiler unrolls and drops what a case
// does not need.
#include <fmt/format.h>

#include "smith/attention/attention.h"
#include "smith/emit/cpp_expr.h"

namespace kforge::smith {
namespace {

// Words in capitals between percent signs are filled in.
std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& words) {
  for (const auto& [word, by] : words)
    for (std::size_t at = 0; (at = text.find("%" + word + "%", at)) != std::string::npos; at += by.size())
      text.replace(at, word.size() + 2, by);
  return text;
}

constexpr std::string_view kSizes = R"(
constexpr long kBatch = %BATCH%, kQueries = %QUERIES%, kKeys = %KEYS%, kDepth = %DEPTH%, kWidth = %WIDTH%;
constexpr long kRows = %ROWS%;    // queries of a piece of work
constexpr long kBlock = %BLOCK%;  // keys of a block
constexpr long kCausal = %CAUSAL%;  // keys from query + kCausal on weigh nothing; 0: all count
constexpr bool kDots = kQueries <= 4 && %K_COLUMN% == 1 && %Q_COLUMN% == 1;  // few queries: keys are read where they lie
constexpr long kPanel = 2 * kLanes;            // keys that are scored at once
constexpr int kTall = kLanes == 16 ? 12 : 6;   // queries that are worked on at once
)";

// Keys become panels [depth][kPanel], so that vectors lie along keys.
constexpr std::string_view kPack = R"(
// Keys [0, count) as panels; what is missing of the last one is zero. Their values are asked for meanwhile: they are
// read by columns, which the hardware does not foresee.
inline void pack_keys(const float* k, const float* v, long count, float* panels) {
  for (long first = 0; first < count; first += kPanel, panels += kDepth * kPanel)
    for (long part = 0; part < kPanel; part += kLanes) {
      const float* from = k + (first + part) * %K_ROW%;
      long d = 0;
      if (%K_COLUMN% == 1 && first + part + kLanes <= count)
        for (; d + kLanes <= kDepth; d += kLanes) {
          if (d % 16 == 0 && d < kWidth)
            for (long i = 0; i < kLanes; ++i) __builtin_prefetch(v + (first + part + i) * %V_ROW% + d);
          Vec square[kLanes];
          for (long i = 0; i < kLanes; ++i) square[i] = load<Vec>(from + i * %K_ROW% + d);
          turned(square);
          for (long i = 0; i < kLanes; ++i) store(panels + (d + i) * kPanel + part, square[i]);
        }
      for (; d < kDepth; ++d)
        for (long i = 0; i < kLanes; ++i)
          panels[d * kPanel + part + i] = first + part + i < count ? from[i * %K_ROW% + d * %K_COLUMN%] : 0.0f;
    }
}
)";

constexpr std::string_view kProducts = R"(
// sums[r][column] = q[r] . key[column] for R queries and the panels of `count` keys.
template <int R> SMITH_INLINE void score_panels(const float* q, const float* panels, long count, float* sums) {
  for (long column = 0; column < count; column += kPanel, panels += kDepth * kPanel) {
    Vec a[R][2] = {};
#pragma GCC unroll 2
    for (long d = 0; d < kDepth; ++d) {
      const Vec k0 = load<Vec>(panels + d * kPanel), k1 = load<Vec>(panels + d * kPanel + kLanes);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const Vec x = set<Vec>(q[r * %Q_ROW% + d * %Q_COLUMN%]);
        a[r][0] += x * k0;
        a[r][1] += x * k1;
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      store(sums + r * kBlock + column, a[r][0]);
      store(sums + r * kBlock + column + kLanes, a[r][1]);
    }
  }
}

// The same for keys as they lie: one dot product each.
inline void score_dots(const float* q, const float* k, long count, float* sums) {
  for (long column = 0; column < count; ++column) {
    Vec a = set<Vec>(0.0f);
    float rest = 0;
    long d = 0;
#pragma GCC unroll 8
    for (; d + kLanes <= kDepth; d += kLanes) a += load<Vec>(q + d) * load<Vec>(k + column * %K_ROW% + d);
    for (; d < kDepth; ++d) rest += q[d] * k[column * %K_ROW% + d];
#pragma GCC unroll 4
    for (int s = kLanes / 2; s > 0; s /= 2) {
      IVec other;
      for (int l = 0; l < kLanes; ++l) other[l] = (l + s) % int(kLanes);
      a += __builtin_shuffle(a, other);
    }
    sums[column] = a[0] + rest;
  }
}

// y[r] = y[r] * shrink[r] + sum over columns of weight[r][column] v[column], along U vectors of the width.
template <int R, class F, int U>
SMITH_INLINE void add_values(const float* weights, const float* v, long count, const float* shrink, float* y) {
  constexpr long kStep = sizeof(F) / 4;
  F a[R][U];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
    for (int u = 0; u < U; ++u) a[r][u] = load<F>(y + r * %Y_ROW% + u * kStep) * shrink[r];
  for (long column = 0; column < count; ++column) {
    F x[U];
    for (int u = 0; u < U; ++u) x[u] = load<F>(v + column * %V_ROW% + u * kStep);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
      for (int u = 0; u < U; ++u) a[r][u] += set<F>(weights[r * kBlock + column]) * x[u];
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
    for (int u = 0; u < U; ++u) store(y + r * %Y_ROW% + u * kStep, a[r][u]);
}
)";

constexpr std::string_view kSoftmax = R"(
// Sums become weights exp(score - largest) of one query; returns by what earlier results shrink.
inline float weigh(const Tensors& t, long batch, long query, long first, long count, float* sums, float& largest,
                   float& total) {
  Vec m = set<Vec>(-__builtin_inff());
  float most = largest;
  long column = 0;
  for (; column + kLanes <= count; column += kLanes) {
    const Vec s = score<Vec>(t, batch, query, first, column, sums);
    store(sums + column, s);
    m = maximum(m, s);
  }
  for (; column < count; ++column) most = maximum(most, sums[column] = score<float>(t, batch, query, first, column, sums));
  for (int l = 0; l < kLanes; ++l) most = maximum(most, m[l]);
  // Nothing but masked keys so far: any shift will do, their weights are zero.
  const float shift = most == -__builtin_inff() ? 0.0f : most;
  Vec added = set<Vec>(0.0f);
  float rest = 0;
  for (column = 0; column + kLanes <= count; column += kLanes) {
    const Vec w = exp_low(load<Vec>(sums + column) - shift);
    store(sums + column, w);
    added += w;
  }
  for (; column < count; ++column) rest += sums[column] = exp_low(sums[column] - shift);
  for (int l = 0; l < kLanes; ++l) rest += added[l];
  const float shrink = largest == most ? 1.0f : exp_low(largest - shift);
  total = total * shrink + rest;
  largest = most;
  return shrink;
}
)";

constexpr std::string_view kPiece = R"(
struct Running {
  float largest[kRows], total[kRows];
};

// R queries and a block of keys.
template <int R>
inline void block(const Tensors& t, long batch, long query, long row, long first, long count, const float* q, const float* k,
                  const float* panels, const float* v, float* y, Running& now) {
  if (kCausal > 0) count = std::min(count, query + R - 1 + kCausal - first);
  if (count <= 0) return;
  alignas(64) float sums[R * kBlock];
  float shrink[R];
  if constexpr (kDots)
    for (int r = 0; r < R; ++r) score_dots(q + r * %Q_ROW%, k, count, sums + r * kBlock);
  else
    score_panels<R>(q, panels, count, sums);
  for (int r = 0; r < R; ++r)
    shrink[r] = weigh(t, batch, query + r, first, count, sums + r * kBlock, now.largest[row + r], now.total[row + r]);
  constexpr int kWide = R == 1 ? 8 : R == 2 ? 4 : 2;  // enough sums at once to hide the latency of each; long pieces of rows
  long d = 0;
  for (; d + kWide * kLanes <= kWidth; d += kWide * kLanes) add_values<R, Vec, kWide>(sums, v + d, count, shrink, y + d);
  for (; d + kLanes <= kWidth; d += kLanes) add_values<R, Vec, 1>(sums, v + d, count, shrink, y + d);
  for (; d < kWidth; ++d) add_values<R, float, 1>(sums, v + d, count, shrink, y + d);
}

inline void piece(const Tensors& t, long batch, long from) {
  const long rows = std::min(kRows, kQueries - from);
  const float* q = t.%Q%_ + %Q_BASE% + from * %Q_ROW%;
  const float* k = t.%K%_ + %K_BASE%;
  const float* v = t.%V%_ + %V_BASE%;
  float* y = t.%Y%_ + %Y_BASE% + from * %Y_ROW%;
  alignas(64) float panels[kDots ? 1 : kDepth * ((kBlock + kPanel - 1) / kPanel * kPanel)];
  Running now;
  for (long row = 0; row < rows; ++row) {
    now.largest[row] = -__builtin_inff();
    now.total[row] = 0;
    std::fill_n(y + row * %Y_ROW%, kWidth, 0.0f);
  }
  const long last = kCausal > 0 ? std::min(kKeys, from + rows - 1 + kCausal) : kKeys;
  for (long first = 0; first < last; first += kBlock) {
    const long count = std::min(kBlock, last - first);
    if constexpr (!kDots) pack_keys(k + first * %K_ROW%, v + first * %V_ROW%, count, panels);
    long row = 0;
    const auto some = [&]<int R>(std::integral_constant<int, R>) {
      for (; row + R <= rows; row += R)
        block<R>(t, batch, from + row, row, first, count, q + row * %Q_ROW%, k + first * %K_ROW%, panels,
                 v + first * %V_ROW%, y + row * %Y_ROW%, now);
    };
    some(std::integral_constant<int, kTall>());
    some(std::integral_constant<int, 4>());
    some(std::integral_constant<int, 2>());
    some(std::integral_constant<int, 1>());
  }
  for (long row = 0; row < rows; ++row) {
    const float scale = 1.0f / now.total[row];
    for (long d = 0; d < kWidth; ++d) y[row * %Y_ROW% + d] *= scale;
  }
}

// Called by every thread of the team.
inline void work(const Tensors& t) {
  constexpr long kPieces = (kQueries + kRows - 1) / kRows;
#pragma omp for schedule(dynamic)
  for (long i = 0; i < kBatch * kPieces; ++i) piece(t, i / kPieces, (kPieces - 1 - i % kPieces) * kRows);
}
)";

// Expressions read tensors under names that end in an underscore, as the struct of pointers has them.
Expr renamed(const Expr& e) {
  return rewrite(e, [](const Expr& node) -> Expr {
    if (node->op != Op::kLoad || node->name == "sum_at") return nullptr;
    std::vector<Expr> position;
    for (const Expr& p : node->args) position.push_back(renamed(p));
    return load(node->name + "_", node->dtype, node->coefs, position);
  });
}

std::string score_function(const TakenAttention& taken, std::set<std::string>& used) {
  std::map<std::string, TensorInfo> tensors;
  for (const auto& [name, info] : taken.tensors) {
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
  const CppValue value = cpp_value(scope, renamed(taken.attention.score));
  std::string text =
      "\n// What the graph makes of a sum of products. Key: first + column.\ntemplate <class "
      "F>\nSMITH_INLINE F "
      "score(const Tensors& t, long batch, long query, long first, long column, const float* sum_at) {\n";
  for (const std::string& name : taken.attention.reads)
    text += fmt::format("  const {0}* {1}_ = t.{1}_;\n", c_type_of(taken.tensors.at(name).dtype), name);
  text += "  (void)t, (void)batch, (void)query, (void)first;\n";
  for (const std::string& line : value.lines) text += "  " + line + "\n";
  return text + fmt::format("  return {};\n}}\n",
                            value.uniform ? fmt::format("set<F>({})", value.text) : value.text);
}

}  // namespace

std::string attention_source(const TakenAttention& taken, const AttentionSchedule& schedule,
                             std::set<std::string>& used) {
  const Attention& a = taken.attention;
  used.insert({"vectors", "maximum", "exp_low", "turn"});
  std::string text =
      fmt::format("// {}\nnamespace {}_attention {{\nnamespace {{\n", story_of(taken, schedule), a.tensor);
  text += "\nstruct Tensors {\n";
  for (const auto& [name, info] : taken.tensors)
    text += fmt::format("  {}{}* {}_;\n", name == a.tensor ? "" : "const ", c_type_of(info.dtype), name);
  text += "};\n";
  const CppScope scope;
  auto n = [](long value) { return std::to_string(value); };
  auto base = [&](const AttentionOperand& o) { return position_text(scope, o.base); };
  const std::string body = std::string(kSizes) + std::string(kPack) + std::string(kProducts) +
                           score_function(taken, used) + std::string(kSoftmax) + std::string(kPiece);
  text += filled(body, {{"BATCH", n(a.batch)},       {"QUERIES", n(a.queries)},   {"KEYS", n(a.keys)},
                        {"DEPTH", n(a.depth)},       {"WIDTH", n(a.width)},       {"ROWS", n(schedule.rows)},
                        {"BLOCK", n(schedule.keys)}, {"CAUSAL", n(a.causal)},     {"Q", a.q.tensor},
                        {"K", a.k.tensor},           {"V", a.v.tensor},           {"Y", a.y.tensor},
                        {"Q_ROW", n(a.q.row)},       {"Q_COLUMN", n(a.q.column)}, {"K_ROW", n(a.k.row)},
                        {"K_COLUMN", n(a.k.column)}, {"V_ROW", n(a.v.row)},       {"Y_ROW", n(a.y.row)},
                        {"Q_BASE", base(a.q)},       {"K_BASE", base(a.k)},       {"V_BASE", base(a.v)},
                        {"Y_BASE", base(a.y)}});
  return text + fmt::format("\n}}  // namespace\n}}  // namespace {}_attention\n\n", a.tensor);
}

std::string story_of(const TakenAttention& taken, const AttentionSchedule& schedule) {
  const Attention& a = taken.attention;
  return fmt::format(
      "{} is attention in one pass: {} queries at a time meet blocks of {} keys; a running maximum and sum "
      "take "
      "the place of the {} x {} scores, which never reach memory{}",
      a.tensor, schedule.rows, schedule.keys, a.queries, a.keys,
      a.causal > 0 ? "; blocks that the mask hides are left out" : "");
}

}  // namespace kforge::smith
