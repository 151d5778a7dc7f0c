// Every element of the outer loops in a workgroup. Values of the row (a maximum, a mean) are the same in all
// of its threads, each of which keeps them in registers; loops inside are shared by the threads; what those
// combine is combined once more across the workgroup, as a tree in shared memory, always in the same order.
#include <algorithm>

#include <fmt/format.h>

#include "smith/device/kernel_writer.h"

namespace kforge::smith {

using Kind = StmtNode::Kind;

void KernelWriter::barrier(bool buffers) { line(std::string(buffers ? d_.barrier_all : d_.barrier)); }

bool KernelWriter::writes_buffers(const Stmt& s) const {
  for (const std::string& name : writes_of(s))
    if (!is_local(nest_.tensors.at(name))) return true;
  return false;
}

void KernelWriter::write_rows() {
  const std::int64_t items = kernel_.items();
  grid = {std::min<std::int64_t>(items, 65535)};
  line(fmt::format("const int lane_ = {};", d_.lane));
  if (items > grid[0])
    open(fmt::format("for ({0} row_ = {1}; row_ < {2}; row_ += {3})", index_type_, d_.group[0], items,
                     grid[0]));
  else if (items > 1)
    line(fmt::format("const {} row_ = {};", index_type_, d_.group[0]));
  declare_indices(kernel_.outer, items > 1 ? "row_" : "0");
  for (const Stmt& loop : kernel_.outer)
    for (const std::string& name : loop->locals) {
      const TensorInfo& tensor = nest_.tensors.at(name);
      const std::int64_t count = element_count(tensor.shape);
      if (count == 1) {
        declare_locals({name});
      } else {
        shared_declarations.push_back(
            fmt::format("{} {}[{}]", element_type(scope_, tensor), scope_.name(name), count));
        shared_bytes +=
            count * (type_for(tensor.dtype) == Type::kInt || type_for(tensor.dtype) == Type::kDouble ? 8 : 4);
      }
    }
  row_body();
  if (depth_ > 1) {
    barrier();  // the next row uses the same shared memory
    close();
  }
}

void KernelWriter::row_body() {
  const auto& body = kernel_.body;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const Stmt& s = body[i];
    const bool last = i + 1 == body.size();
    const bool begins = !last && starts(s, body[i + 1]);
    const Stmt loop = begins ? body[++i] : s;
    if (loop->kind == Kind::kFor) {
      bool seen = false;
      if (loop->scan)
        row_scan(loop);
      else
        seen = row_loop(loop, begins ? s : nullptr);
      if (!seen && i + 1 < body.size()) barrier(writes_buffers(loop));
      continue;
    }
    // A value of the row: in registers of all threads, or stored by one of them.
    const TensorInfo& tensor = nest_.tensors.at(s->tensor);
    std::string value = value_text(s->value);
    if (s->kind == Kind::kUpdate) value = combine_text(scope_, s->combine, s->value->type, current(s), value);
    const std::string text = device_store(scope_, tensor, s->view, s->position, value);
    single_store(text, tensor);
    if (!last && !(is_local(tensor) && element_count(tensor.shape) == 1)) barrier(!is_local(tensor));
  }
}

void KernelWriter::single_store(const std::string& text, const TensorInfo& tensor) {
  const bool everywhere = is_local(tensor) && element_count(tensor.shape) == 1;
  line(everywhere ? text : "if (lane_ == 0) " + text);
}

// The loop's iterations, matched to the threads one by one: neighbours take neighbours.
bool KernelWriter::row_loop(const Stmt& s, const Stmt& start) {
  const std::vector<Stmt> loops = shared_loops(nest_, s);
  KF_CHECK(!loops.empty(), "threads cannot share '{}'", s->name);
  std::vector<Stmt> mine;
  for (const Stmt& update : carried_updates(s)) {
    bool moved = false;
    for (const Stmt& loop : loops)
      for (const Expr& e : update->position) moved |= uses(e, loop->name);
    if (!moved) mine.push_back(update);
  }
  for (const Stmt& update : mine) {
    const std::string name = fmt::format("{}_part{}", scope_.name(update->tensor), ++counter_);
    line(fmt::format("{} {} = {};", d_.type(update->value->type), name,
                     identity_text(scope_, update->combine, update->value->type)));
    accumulators_[update.get()] = name;
  }
  std::int64_t count = 1;
  for (const Stmt& loop : loops) count *= loop->extent;
  const std::string index = loops.size() == 1 ? scope_.name(s->name) : fmt::format("at{}_", ++counter_);
  open(fmt::format("for ({0} {1} = lane_; {1} < {2}; {1} += {3})", index_type_, index, count, kernel_.block));
  if (loops.size() > 1) declare_indices(loops, index);
  for (const Stmt& loop : loops) declare_locals(loop->locals);
  statement(loops.back()->body[0]);
  close();
  for (const Stmt& update : mine) {
    const std::string part = accumulators_.at(update.get());
    accumulators_.erase(update.get());
    const TensorInfo& tensor = nest_.tensors.at(update->tensor);
    const Type type = update->value->type;
    std::string whole = combined_by_group(part, update->combine, type);
    if (!(start && start->tensor == update->tensor))
      whole = combine_text(scope_, update->combine, type, current(update), whole);
    single_store(device_store(scope_, tensor, update->view, update->position, whole), tensor);
  }
  // The tree ends in a barrier; buffers need one that includes them.
  return !mine.empty() && !writes_buffers(s);
}

std::string KernelWriter::scratch(Type type) {
  const std::string name = type == Type::kInt || type == Type::kBool ? "whole_scratch_"
                           : type == Type::kDouble && d_.has_double  ? "double_scratch_"
                                                                     : "scratch_";
  if (scratches_.insert(name).second) {
    shared_declarations.push_back(
        fmt::format("{} {}[{}]", d_.type(type == Type::kBool ? Type::kInt : type), name, kernel_.block));
    shared_bytes += kernel_.block * (name == "scratch_" ? 4 : 8);
  }
  return name;
}

std::string KernelWriter::combined_by_group(const std::string& mine, Combine combine, Type type) {
  const std::string s = scratch(type), half = fmt::format("half{}_", ++counter_),
                    whole = fmt::format("whole{}_", counter_);
  line(fmt::format("{}[lane_] = {};", s, mine));
  barrier();
  open(fmt::format("for (int {0} = {1}; {0} > 0; {0} /= 2)", half, kernel_.block / 2));
  line(fmt::format(
      "if (lane_ < {0}) {1}[lane_] = {2};", half, s,
      combine_text(scope_, combine, type, s + "[lane_]", fmt::format("{}[lane_ + {}]", s, half))));
  barrier();
  close();
  line(fmt::format("const {} {} = {}[0];", d_.type(type == Type::kBool ? Type::kInt : type), whole, s));
  barrier();  // read by all before the next one writes it
  return whole;
}

// A running sum: every thread takes a run of elements, sums it, learns from shared memory what came before,
// and goes through its run once more.
void KernelWriter::row_scan(const Stmt& s) {
  const auto& pair = s->body[0]->body;
  const bool exclusive = pair[0]->kind == Kind::kStore;
  const Stmt& update = exclusive ? pair[1] : pair[0];
  const Stmt& store = exclusive ? pair[0] : pair[1];
  const Type type = update->value->type;
  const std::string v = scope_.name(s->name), neutral = identity_text(scope_, update->combine, type),
                    t = d_.type(type), state = fmt::format("running{}_", ++counter_), shared = scratch(type);
  const std::int64_t run = (s->extent + kernel_.block - 1) / kernel_.block;
  line("{");
  ++depth_;
  line(fmt::format("const {} first_ = lane_ * {}, end_ = first_ + {} < {} ? first_ + {} : {};", index_type_,
                   run, run, s->extent, run, s->extent));
  line(fmt::format("{} {} = {};", t, state, neutral));
  open(fmt::format("for ({0} {1} = first_; {1} < end_; ++{1})", index_type_, v));
  std::string value = value_text(update->value);
  line(fmt::format("{} = {};", state, combine_text(scope_, update->combine, type, state, value)));
  close();
  line(fmt::format("{}[lane_] = {};", shared, state));
  barrier();
  open(fmt::format("for (int back_ = 1; back_ < {}; back_ *= 2)", kernel_.block));
  line(fmt::format("const {} before_ = lane_ >= back_ ? {}[lane_ - back_] : {};", t, shared, neutral));
  barrier();
  line(fmt::format("{}[lane_] = {};", shared,
                   combine_text(scope_, update->combine, type, "before_", fmt::format("{}[lane_]", shared))));
  barrier();
  close();
  line(fmt::format("{} = lane_ > 0 ? {}[lane_ - 1] : {};", state, shared, neutral));
  scope_.registers[update->tensor] = state;
  open(fmt::format("for ({0} {1} = first_; {1} < end_; ++{1})", index_type_, v));
  const TensorInfo& target = nest_.tensors.at(store->tensor);
  if (exclusive) line(device_store(scope_, target, store->view, store->position, value_text(store->value)));
  value = value_text(update->value);
  line(fmt::format("{} = {};", state, combine_text(scope_, update->combine, type, state, value)));
  if (!exclusive) line(device_store(scope_, target, store->view, store->position, value_text(store->value)));
  close();
  close();
  scope_.registers.erase(update->tensor);
}

}  // namespace kforge::smith
