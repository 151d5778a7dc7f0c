#include "smith/device/kernel_writer.h"

#include <algorithm>

#include <fmt/format.h>

namespace kforge::smith {

using Kind = StmtNode::Kind;

KernelWriter::KernelWriter(const Dialect& dialect, const Nest& nest, const DeviceKernel& kernel,
                           std::set<std::string>& used)
    : d_(dialect), nest_(nest), kernel_(kernel) {
  scope_.dialect = &dialect;
  scope_.tensors = &nest.tensors;
  scope_.used = &used;
  scope_.counter = &counter_;
  // 32-bit indices are the quick ones; a tensor that is larger needs wide ones.
  auto touched = std::set<std::string>();
  for (const Stmt& s : kernel.body) touched.merge(reads_of(s)), touched.merge(writes_of(s));
  for (const std::string& name : touched)
    if (element_count(nest.tensors.at(name).shape) > INT32_MAX - 65536) index_type_ = d_.whole;
  if (kernel.items() > INT32_MAX - 65536 * 256) index_type_ = d_.whole;  // steps of all threads together
}

std::string KernelWriter::write() {
  switch (kernel_.kind) {
    case DeviceKernel::Kind::kThreads:
      write_threads();
      break;
    case DeviceKernel::Kind::kRows:
      write_rows();
      break;
    case DeviceKernel::Kind::kTiles:
      write_tiles();
      break;
  }
  return std::move(text_);
}

void KernelWriter::line(const std::string& text) {
  text_ += std::string(static_cast<std::size_t>(2 * depth_), ' ') + text + "\n";
}
void KernelWriter::open(const std::string& text) {
  line(text + " {");
  ++depth_;
}
void KernelWriter::close(const std::string& end) {
  --depth_;
  line(end);
}

void KernelWriter::lines_of(const DeviceValue& value) {
  for (const std::string& text : value.lines) line(text);
}

std::string KernelWriter::value_text(const Expr& e) {
  const DeviceValue value = device_value(scope_, e);
  lines_of(value);
  return value.text;
}

bool KernelWriter::starts(const Stmt& s, const Stmt& loop) {
  if (s->kind != Kind::kStore || s->value->op != Op::kNumber || loop->kind != Kind::kFor || loop->scan)
    return false;
  for (const Stmt& update : carried_updates(loop)) {
    if (update->tensor != s->tensor || update->view != s->view) continue;
    bool equal = same(s->value, identity_of(update->combine, s->value->type));
    for (std::size_t i = 0; i < s->position.size(); ++i) equal &= same(s->position[i], update->position[i]);
    if (equal) return true;
  }
  return false;
}

void KernelWriter::statements(const std::vector<Stmt>& list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    // A sum that begins with its neutral element needs no store of it.
    if (i + 1 < list.size() && starts(list[i], list[i + 1])) {
      for_loop(list[i + 1], list[i]);
      ++i;
    } else {
      statement(list[i]);
    }
  }
}

void KernelWriter::statement(const Stmt& s) {
  switch (s->kind) {
    case Kind::kBlock:
      return statements(s->body);
    case Kind::kFor:
      return for_loop(s, nullptr);
    case Kind::kStore: {
      const std::string value = value_text(s->value);
      return line(device_store(scope_, nest_.tensors.at(s->tensor), s->view, s->position, value));
    }
    case Kind::kUpdate:
      return update(s);
    case Kind::kNative:
      KF_CHECK(false, "native code in a kernel of a device");
  }
}

// What the loop combines is kept in registers while it runs.
void KernelWriter::for_loop(const Stmt& s, const Stmt& start) {
  std::vector<Stmt> mine;
  if (!s->scan)
    for (const Stmt& update : carried_updates(s))
      if (!accumulators_.contains(update.get())) mine.push_back(update);
  for (const Stmt& update : mine) {
    const bool fresh = start && start->tensor == update->tensor;
    const std::string name = fmt::format("{}_sum{}", scope_.name(update->tensor), ++counter_);
    const std::string begin =
        fresh ? identity_text(scope_, update->combine, update->value->type) : current(update);
    line(fmt::format("{} {} = {};", d_.type(update->value->type), name, begin));
    accumulators_[update.get()] = name;
  }
  plain_loop(s);
  for (const Stmt& update : mine) {
    const std::string name = accumulators_.at(update.get());
    accumulators_.erase(update.get());
    line(device_store(scope_, nest_.tensors.at(update->tensor), update->view, update->position, name));
  }
}

void KernelWriter::plain_loop(const Stmt& s) {
  const std::string v = scope_.name(s->name);
  std::string end = fmt::format("{}", s->extent);
  if (s->limit) {
    const std::string limit = index_text(scope_, s->limit);
    line(fmt::format("const {} {}_end = {} < {} ? {} : {};", index_type_, v, limit, s->extent, limit,
                     s->extent));
    end = v + "_end";
  }
  if (s->backwards)
    open(fmt::format("for ({0} {1} = {2} - 1; {1} >= 0; --{1})", index_type_, v, end));
  else
    open(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1})", index_type_, v, end));
  declare_locals(s->locals);
  statement(s->body[0]);
  close();
}

void KernelWriter::declare_locals(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const TensorInfo& tensor = nest_.tensors.at(name);
    const std::int64_t count = element_count(tensor.shape);
    line(fmt::format("{} {}{};", element_type(scope_, tensor), scope_.name(name),
                     count == 1 ? "" : fmt::format("[{}]", count)));
  }
}

std::string KernelWriter::current(const Stmt& update) {
  const TensorInfo& tensor = nest_.tensors.at(update->tensor);
  return value_text(load(update->tensor, tensor.dtype, update->view, update->position));
}

void KernelWriter::update(const Stmt& s) {
  const std::string value = value_text(s->value);
  const Type type = s->value->type;
  if (const auto found = accumulators_.find(s.get()); found != accumulators_.end())
    return line(
        fmt::format("{} = {};", found->second, combine_text(scope_, s->combine, type, found->second, value)));
  const std::string now = current(s);
  line(device_store(scope_, nest_.tensors.at(s->tensor), s->view, s->position,
                    combine_text(scope_, s->combine, type, now, value)));
}

void KernelWriter::declare_indices(const std::vector<Stmt>& loops, const std::string& index) {
  std::int64_t below = 1;
  for (const Stmt& s : loops) below *= s->extent;
  bool first = true;
  for (const Stmt& s : loops) {
    below /= s->extent;
    std::string text = index;
    if (below != 1) text += fmt::format(" / {}", below);
    if (!first) text += fmt::format(" % {}", s->extent);
    if (s->extent == 1) text = "0";
    line(fmt::format("const {} {} = {};", index_type_, scope_.name(s->name), text));
    first = false;
  }
}

}  // namespace kforge::smith
