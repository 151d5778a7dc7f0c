// Inputs that are nearly those of another call. A program that keeps its answers and recognises an input by a
// part of it (a prefix, every n-th element, a page, a sum, its likeness to another) is right on inputs that
// have nothing in common, and wrong in use. So calls are judged after others that left some part unchanged,
// and which part is drawn anew each time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "task/task.h"

namespace kforge {

// Which elements get another value.
enum class VariedPart : std::uint8_t {
  kNothing,
  kOne,           // one of them, drawn
  kFirst,         // the first alone
  kLast,          // the last alone
  kFew,           // one in 256, drawn, and at least two
  kAllButPrefix,  // a prefix of drawn length stays
  kAllButSuffix,
  kAllButStride,  // every second, fourth, ... stays
  kAllButPages,   // half of its 4 KiB blocks stay, drawn
  kOrder,         // the same values in another order: two parts of drawn length change places
  kSlightly,      // each floating value by about a thousandth; all of what is no measured quantity
  kAll,
  // One element in 31 of a floating input becomes NaN, an infinity, a denormal or -0; and the same elements
  // as a program may read them: NaN as a huge number of either sign or as zero, infinities as huge numbers,
  // denormals as zero.
  kSpecial,
  kSpecialLow,
  kSpecialHigh,
  kSpecialZero,
  kSpecialRow,    // a NaN that becomes the maximum of its row makes all of it equal
  kSpecialOther,  // as no program may: infinities and NaN as huge numbers of the other sign
};
inline constexpr VariedPart kNearParts[] = {
    VariedPart::kOne,          VariedPart::kFirst,        VariedPart::kLast,         VariedPart::kFew,
    VariedPart::kAllButPrefix, VariedPart::kAllButSuffix, VariedPart::kAllButStride, VariedPart::kAllButPages,
    VariedPart::kOrder,        VariedPart::kSlightly};
std::string_view words_of(VariedPart part);  // "in a single element"

struct Variation {
  VariedPart part = VariedPart::kNothing;
  std::uint64_t seed = 0;
  // The new values are far from the task's own where its distributions allow that: even one of them changes
  // a sum of millions beyond any tolerance. For calls whose own result nobody judges.
  bool far = false;
  int only = -1;        // special values: the argument that gets them
  bool sparse = false;  // special values: no infinities, and few, each in a row of its own

  bool operator==(const Variation&) const = default;
};

// Changes part of an argument that holds its values already. Of several arguments with the same role some
// stay as they are, which ones is drawn; at least one does not. Masks, labels and fixed initializers keep
// their constraints; initializers of integers wider than a byte never change.
void vary_argument(const BoundTask& task, std::size_t argument, const Variation& variation,
                   std::span<std::byte> data);

}  // namespace kforge
