#include "smith/emit/nest_writer.h"

#include <algorithm>

#include <fmt/format.h>

namespace kforge::smith {

using Kind = StmtNode::Kind;

namespace {

// Locals beyond this lie in the heap, one piece per thread, not on the stack.
constexpr std::int64_t kStackBytes = 96 << 10;

}  // namespace

std::string NestWriter::write(std::size_t first, std::size_t last, bool team, int depth) {
  team_ = team;
  depth_ = depth;
  for (std::size_t i = first; i < last; ++i) top(nest_.root->body[i]);
  return std::move(text_);
}

void NestWriter::line(const std::string& text) {
  text_ += std::string(static_cast<std::size_t>(2 * depth_), ' ') + text + "\n";
}

bool NestWriter::has_parallel(const Stmt& s) const {
  bool found = false;
  visit(s, [&](const StmtNode& n) { found |= n.run == Run::kParallel; });
  return found;
}

void NestWriter::top(const Stmt& s) {
  heap_at_ = 0;  // nests follow each other: what one has there, the next may have too
  if (!s->note.empty()) line("// " + s->note);
  if (s->kind == Kind::kNative) return native(s);
  if (team_ && !has_parallel(s)) {
    line("#pragma omp single");
    line("{");
    ++depth_;
    statement(s);
    --depth_;
    return line("}");
  }
  statement(s);
}

void NestWriter::native(const Stmt& s) {
  used_.insert(s->native->headers.begin(), s->native->headers.end());
  std::string lines = s->native->lines;
  for (const auto* list : {&s->native->reads, &s->native->writes})
    for (const std::string& tensor : *list)
      for (std::size_t at = 0; (at = lines.find("{" + tensor + "}", at)) != std::string::npos;
           at += tensor.size())
        lines.replace(at, tensor.size() + 2, tensor);
  const bool single = team_ && !s->native->parallel;
  if (single) line("#pragma omp single");
  if (single) line("{");
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    const std::string text = lines.substr(begin, end - begin);
    if (!(text.starts_with("#pragma omp") && !team_)) line((single ? "  " : "") + text);
    begin = end + 1;
  }
  if (single) line("}");
}

CppScope NestWriter::scope() {
  CppScope scope;
  scope.tensors = &nest_.tensors;
  scope.used = &used_;
  scope.lane_variable = lanes_;
  scope.counter = &counter_;
  return scope;
}

void NestWriter::lines_of(const CppValue& value) {
  for (const std::string& text : value.lines) line(text);
}

void NestWriter::statement(const Stmt& s) {
  switch (s->kind) {
    case Kind::kBlock:
      for (std::size_t i = 0; i < s->body.size(); ++i) {
        const Stmt& child = s->body[i];
        // A reduction that begins with its neutral element needs no store of it.
        if (child->kind == Kind::kStore && i + 1 < s->body.size() && s->body[i + 1]->kind == Kind::kFor &&
            starts(child, s->body[i + 1])) {
          initial_ = child;
          continue;
        }
        statement(child);
      }
      break;
    case Kind::kFor:
      for_loop(s);
      break;
    case Kind::kStore:
      store(s);
      break;
    case Kind::kUpdate:
      update(s);
      break;
    case Kind::kNative:
      break;
  }
}

std::string NestWriter::end_of(const Stmt& loop) {
  if (!loop->limit) return fmt::format("{}", loop->extent);
  return fmt::format("std::min<long>({}, {})", loop->extent, position_text(scope(), loop->limit));
}

void NestWriter::open_loop(const Stmt& s) {
  const std::string& v = s->name;
  const std::string end = end_of(s);
  if (s->run == Run::kVector && can_lanes(*s) && lanes_.empty()) {
    used_.insert("vectors/along.h");
    const bool again = (s->limit || s->extent % 16 != 0) && repeatable(*s);
    line(fmt::format("along<{}{}>({}, [&](auto lane, long {}) __attribute__((always_inline)) {{", s->unroll,
                     again ? ", true" : "", end, v));
    ++depth_;
    const std::size_t mark = text_.size();
    lanes_ = v;
    line("using F = typename decltype(lane)::F;");
    const std::size_t after = text_.size();
    body_of(s);
    lanes_.clear();
    --depth_;
    if (text_.find("<F", after) == std::string::npos && text_.find("F ", after) == std::string::npos)
      text_.erase(mark, after - mark);
    return line("});");
  }
  if (s->run == Run::kParallel && team_ && !collapsing_) {
    int collapse = 1;
    for (Stmt in = s->body[0]; in->kind == Kind::kFor && in->run == Run::kParallel; in = in->body[0])
      ++collapse;
    line(fmt::format("#pragma omp for schedule(static){}",
                     collapse > 1 ? fmt::format(" collapse({})", collapse) : ""));
    collapsing_ = true;
  }
  if (spreads_accumulators(*s)) {
    for (std::int64_t i = 0; i < s->extent; ++i) {
      open_copy(v, static_cast<std::size_t>(i));
      body_of(s);
      close_copy(v);
    }
    return;
  }
  if (s->run == Run::kUnrolled) line(fmt::format("#pragma GCC unroll {}", s->extent));
  if (s->backwards)
    line(fmt::format("for (long {0} = {1} - 1; {0} >= 0; --{0}) {{", v, end));
  else
    line(fmt::format("for (long {0} = 0; {0} < {1}; ++{0}) {{", v, end));
  ++depth_;
  const bool inner_parallel = s->body[0]->kind == Kind::kFor && s->body[0]->run == Run::kParallel;
  if (!inner_parallel) collapsing_ = false;
  body_of(s);
  --depth_;
  line("}");
}

void NestWriter::body_of(const Stmt& s) {
  for (const std::string& name : s->locals) {
    const TensorInfo& tensor = nest_.tensors.at(name);
    const std::int64_t count = element_count(tensor.shape),
                       bytes = count * static_cast<std::int64_t>(size_of(tensor.dtype));
    const std::string type(c_type_of(tensor.dtype));
    if (count == 1) {
      line(fmt::format("{} {};",
                       tensor.dtype == DType::kBool ? "bool"
                       : is_float(tensor.dtype)     ? type
                                                    : "int64_t",
                       name));
    } else if (bytes <= kStackBytes) {
      line(fmt::format("alignas(64) {} {}[{}];", type, name, count));
    } else {
      line(fmt::format("{0}* {1} = ({0}*)(thread_heap + {2});", type, name, heap_at_));
      heap_at_ +=
          (bytes + 63) / 64 * 64 + 64;  // lines apart, so that rows of equal length do not meet in one set
      thread_bytes = std::max(thread_bytes, heap_at_);
    }
  }
  statement(s->body[0]);
}

void NestWriter::store(const Stmt& s) {
  const CppScope at = scope();
  if (copies(s)) {
    used_.insert("memory/copy.h");
    return line(fmt::format("{}<F>({}, {});", s->stream && streams_well(s) ? "stream_copy" : "copy",
                            address_text(at, s->tensor, s->view, s->position),
                            address_text(at, s->value->name, s->value->coefs, s->value->args)));
  }
  const CppValue value = cpp_value(at, s->value);
  lines_of(value);
  const bool stream = s->stream && streams_well(s);
  line(store_text(at, nest_.tensors.at(s->tensor), s->view, s->position, value, s->value->type, stream));
}

bool NestWriter::copies(const Stmt& s) const {
  const Expr& e = s->value;
  if (lanes_.empty() || e->op != Op::kLoad || e->dtype != nest_.tensors.at(s->tensor).dtype ||
      (e->dtype != DType::kBFloat16 && e->dtype != DType::kFloat16))
    return false;
  bool linear = true;
  return coefficient(flat_position(e->coefs, e->args), lanes_, &linear) == 1 &&
         coefficient(flat_position(s->view, s->position), lanes_, &linear) == 1 && linear;
}

bool NestWriter::repeatable(const StmtNode& loop) const {
  std::set<std::string> stored, updated, read;
  bool plain = true;
  visit(loop.body[0], [&](const StmtNode& n) {
    if (n.value) read.merge(tensors_of(n.value));
    if (n.kind == Kind::kStore) stored.insert(n.tensor);
    if (n.kind == Kind::kUpdate) updated.insert(n.tensor);
    plain &= n.kind != Kind::kNative && !n.stream;
  });
  const auto fresh = [&](const std::string& name) { return stored.contains(name); };
  const auto unread = [&](const std::string& name) { return !read.contains(name); };
  return plain && std::ranges::all_of(updated, fresh) && std::ranges::all_of(stored, unread);
}

bool NestWriter::streams_well(const Stmt& s) const {
  if (lanes_.empty()) return false;
  const Expr flat = flat_position(s->view, s->position);
  if (flat->op == Op::kVar) return true;
  if (flat->op != Op::kAffine || flat->integer % 16 != 0) return false;
  for (std::size_t i = 0; i < flat->args.size(); ++i) {
    if (flat->args[i]->op == Op::kVar && flat->args[i]->name == lanes_) continue;
    if (flat->coefs[i] % 16 != 0) return false;
  }
  return true;
}

}  // namespace kforge::smith
