// Source as a page shows it: comments, texts, numbers, directives and keywords in colours of their own. Reads
// what C, C++, CUDA, Metal, OpenCL, GLSL, Fortran and Python have in common; what it does not know stays
// plain.
#pragma once

#include <cstddef>
#include <string_view>

#include "plot/markup.h"
#include "report/line_diff.h"

namespace kforge {

// Each line in an element of its own, for the numbers before them. `comment` begins one that ends with its
// line:
// "//", "#", "!". At most about `most` bytes; where lines are left out, the last one says how many.
Markup highlighted(std::string_view source, std::string_view comment, std::size_t most);

// Lines with "+" and "-" before them, within the same limit.
Markup diff_markup(const std::vector<DiffLine>& lines, std::size_t most);

}  // namespace kforge
