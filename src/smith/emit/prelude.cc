#include "smith/emit/prelude.h"

#include <string_view>

#include "base/result.h"
#include "smith/emit/prelude_pieces.h"

namespace kforge::smith {
namespace {

const PreludePiece* find_piece(std::string_view name) {
  for (const auto* list : {&vectors_pieces(), &memory_pieces(), &functions_pieces()})
    for (const PreludePiece& piece : *list)
      if (piece.name == name) return &piece;
  return nullptr;
}

}  // namespace

std::string prelude(const std::set<std::string>& used) {
  std::string text;
  std::set<std::string_view> done;
  auto add = [&](auto&& self, std::string_view name) -> void {
    if (!done.insert(name).second) return;
    const PreludePiece* found = find_piece(name);
    KF_CHECK(found, "no piece '{}'", name);
    for (std::string_view needed : found->needs) self(self, needed);
    text += found->text;
  };
  add(add, "vectors");
  for (const std::string& name : used) add(add, name);
  return text;
}

}  // namespace kforge::smith
