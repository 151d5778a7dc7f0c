#include <fmt/format.h>

#include "smith/emit/nest_writer.h"

namespace kforge::smith {

bool NestWriter::scan_lanes(const Stmt& s, const Stmt& init) {
  const auto& body = s->body[0]->body;
  const bool exclusive = body[0]->kind == StmtNode::Kind::kStore;
  const Stmt& update = exclusive ? body[1] : body[0];
  const Stmt& store = exclusive ? body[0] : body[1];
  if (nest_.tensors.at(store->tensor).dtype != DType::kFloat32 || update->value->type != Type::kFloat ||
      s->extent < 16)
    return false;
  if (update->combine != Combine::kSum && update->combine != Combine::kProduct) return false;
  if (store->value->op != Op::kLoad || store->value->name != update->tensor) return false;
  bool linear = true;
  const std::int64_t step = coefficient(flat_position(store->view, store->position), s->name, &linear);
  if (!linear || (step != 1 && step != -1) || !has_lanes(scope(), update->value, s->name)) return false;
  const std::string neutral = identity_text(update->combine, Type::kFloat), how = how_of(update->combine);
  used_.insert({"prefix", "accumulators", "along"});
  const std::string carry = fmt::format("carry{}", ++counter_);
  line(fmt::format("float {} = {};", carry, init ? neutral : current(update)));
  line(fmt::format("along<1>({}, [&](auto lane, long {}) __attribute__((always_inline)) {{", s->extent,
                   s->name));
  ++depth_;
  lanes_ = s->name;
  line("using F = typename decltype(lane)::F;");
  const CppScope at = scope();
  const CppValue value = cpp_value(at, update->value);
  lines_of(value);
  line(fmt::format("const F x = {};", value.uniform ? fmt::format("set<F>({})", value.text) : value.text));
  const std::string address = address_text(at, store->tensor, store->view, store->position);
  line("if constexpr (sizeof(F) == 4) {");
  line(fmt::format("  const float next = {}::of({}, x);", how, carry));
  line(fmt::format("  *({}) = {};", address, exclusive ? carry : "next"));
  line(fmt::format("  {} = next;", carry));
  line("} else {");
  line(fmt::format("  const F sums = {}::of(prefix<{}>(x, {}), set<F>({}));", how, how, neutral, carry));
  std::string stored = "sums";
  if (exclusive) {
    line("  IVec up;");
    line("  for (int l = 0; l < kLanes; ++l) up[l] = l == 0 ? int(kLanes) : l - 1;");
    line(fmt::format("  const F before = __builtin_shuffle(sums, set<F>({}), up);", carry));
    stored = "before";
  }
  if (step == 1) {
    line(fmt::format("  store({}, {});", address, stored));
  } else {
    line("  IVec turn;");
    line("  for (int l = 0; l < kLanes; ++l) turn[l] = int(kLanes) - 1 - l;");
    line(fmt::format("  store({} - (kLanes - 1), __builtin_shuffle({}, turn));", address, stored));
  }
  line(fmt::format("  {} = sums[kLanes - 1];", carry));
  line("}");
  lanes_.clear();
  --depth_;
  line("});");
  return true;
}

}  // namespace kforge::smith
