#include <fmt/format.h>

#include "smith/emit/nest_writer.h"

namespace kforge::smith {

namespace {

// Whether vectors along a loop begin on whole lines: `back` is 1 where they are written from the end.
bool aligned_rows(const Expr& flat, const std::string& along, std::int64_t back) {
  if (flat->op == Op::kVar) return back == 0;
  if (flat->op != Op::kAffine || (flat->integer + back) % 16 != 0) return false;
  for (std::size_t i = 0; i < flat->args.size(); ++i)
    if (!(flat->args[i]->op == Op::kVar && flat->args[i]->name == along) && flat->coefs[i] % 16 != 0)
      return false;
  return true;
}

}  // namespace

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
  used_.insert({"vectors/prefix.h", "vectors/accumulators.h", "vectors/along.h"});
  // The total so far stands in all lanes, and only its own addition waits for the vector before.
  const std::string carry = fmt::format("carry{}", ++counter_);
  line(fmt::format("Vec {} = set<Vec>({});", carry, init ? neutral : current(update)));
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
  line(fmt::format("  const float next = {}::of({}[0], x);", how, carry));
  line(fmt::format("  *({}) = {};", address, exclusive ? carry + "[0]" : "next"));
  line(fmt::format("  {} = set<Vec>(next);", carry));
  line("} else {");
  line(fmt::format("  const F part = prefix<{}>(x, {}), sums = {}::of(part, {});", how, neutral, how, carry));
  std::string stored = "sums";
  if (exclusive) {
    line(fmt::format("  const F before = one_up(sums, {});", carry));
    stored = "before";
  }
  // Rows that begin and end on whole lines can leave by non-temporal stores.
  const std::int64_t first_lane = step == 1 ? 0 : 1;  // of a line, counted from its end where it runs back
  const bool stream =
      store->stream && aligned_rows(flat_position(store->view, store->position), s->name, first_lane);
  if (stream) used_.insert("memory/stream.h");
  const std::string_view put = stream ? "stream" : "store";
  if (step == 1) {
    line(fmt::format("  {}({}, {});", put, address, stored));
  } else {
    line(fmt::format("  {}({} - (kLanes - 1), mirrored({}));", put, address, stored));
  }
  line(fmt::format("  {0} = {1}::of({0}, last_lane(part));", carry, how));
  line("}");
  lanes_.clear();
  --depth_;
  line("});");
  return true;
}

}  // namespace kforge::smith
