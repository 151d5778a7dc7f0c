// Pieces of emitted text that differ from each other only in names: the same layer again, with other tensors.
// A model of twelve equal blocks is compiled once, not twelve times.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kforge::smith {

// Words of a C++ text that can be names, in order; comments are passed over.
void visit_words(std::string_view text, const std::function<void(std::string_view)>& fn);
std::set<std::string> words_of(std::string_view text);

// "x" of "x_12": intermediate results are called after the tensor they come from. Empty where there is no
// number.
std::string_view numbered_stem(std::string_view word);

// A text without its comments in which every name stands as the number of its first appearance. Texts with
// equal shapes do the same to their names, one by one.
struct Skeleton {
  std::string shape;
  std::vector<std::string> names;
};
Skeleton skeleton_of(std::string_view text, const std::function<bool(std::string_view)>& is_name);

}  // namespace kforge::smith
