// The texts that prelude.cc puts together, by what they do.
#pragma once

#include <string_view>
#include <vector>

namespace kforge::smith {

struct PreludePiece {
  std::string_view name;
  std::vector<std::string_view> needs;  // other pieces
  std::string_view text;
};

const std::vector<PreludePiece>& vectors_pieces();
const std::vector<PreludePiece>& memory_pieces();
const std::vector<PreludePiece>& functions_pieces();

}  // namespace kforge::smith
