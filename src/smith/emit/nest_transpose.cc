#include <fmt/format.h>

#include "smith/emit/nest_writer.h"

namespace kforge::smith {

using Kind = StmtNode::Kind;

bool NestWriter::transpose(const Stmt& s) {
  if (s->run != Run::kSerial || s->backwards || s->scan || !s->locals.empty() || !lanes_.empty())
    return false;
  const Stmt& inner = s->body[0];
  if (inner->kind != Kind::kFor || inner->run != Run::kVector || inner->backwards || inner->scan ||
      !inner->locals.empty())
    return false;
  const Stmt& copy = inner->body[0];
  if (copy->kind != Kind::kStore || copy->value->op != Op::kLoad) return false;
  if (nest_.tensors.at(copy->tensor).dtype != DType::kFloat32 ||
      nest_.tensors.at(copy->value->name).dtype != DType::kFloat32)
    return false;
  bool linear = true;
  const Expr to = flat_position(copy->view, copy->position),
             from = flat_position(copy->value->coefs, copy->value->args);
  const std::int64_t to_step = coefficient(to, s->name, &linear),
                     from_step = coefficient(from, inner->name, &linear);
  const bool transposes =
      coefficient(to, inner->name, &linear) == 1 && coefficient(from, s->name, &linear) == 1;
  if (!linear || !transposes || std::abs(to_step) <= 1 || std::abs(from_step) <= 1) return false;
  used_.insert("memory/transpose.h");
  lanes_ = inner->name;
  const bool stream = copy->stream && streams_well(copy);
  lanes_.clear();
  const std::map<std::string, Expr> first{{s->name, integer(0)}, {inner->name, integer(0)}};
  line(fmt::format("transpose<{}>({} + {}, {}, {} + {}, {}, {}, {});", stream, copy->tensor,
                   position_text(scope(), substitute(to, first)), to_step, copy->value->name,
                   position_text(scope(), substitute(from, first)), from_step, end_of(s), end_of(inner)));
  return true;
}

}  // namespace kforge::smith
