#include "task/variation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "task/inputs.h"
#include "task/random.h"

namespace kforge {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::int64_t kTile = 1 << 16;

// Initializers of wide integers are indices, axes or shapes; bytes are quantised weights.
bool may_vary(const BoundArgument& argument) {
  if (argument.bytes() == 0) return false;
  return argument.distribution.kind != Distribution::Kind::kFixed || is_float(argument.dtype) ||
         size_of(argument.dtype) == 1;
}

// Whether this argument is among those that change: each with even chances, and a drawn one surely. Where
// only an unchanged answer is looked at it is that one alone: the others would change the answer, too.
bool is_chosen(const BoundTask& task, std::size_t argument, const Variation& variation) {
  const Role role = task.arguments[argument].role;
  RandomBits random(variation.seed, 0x63686f696365ULL);
  std::vector<std::size_t> all;
  for (std::size_t a = 0; a < task.arguments.size(); ++a)
    if (task.arguments[a].role == role && may_vary(task.arguments[a])) all.push_back(a);
  if (all.empty()) return false;
  std::size_t surely = all[random.next() % all.size()];
  if (variation.far) return argument == surely;
  for (std::size_t a : all) {
    bool chosen = random.next() % 2 == 0;
    if (a == argument) return chosen || a == surely;
  }
  return false;
}

// Other values, to be repeated as often as the argument is longer than they are: making them anew for every
// element of a large tensor would take longer than the call.
std::vector<std::byte> other_values(const BoundArgument& argument, std::size_t index,
                                    const Variation& variation) {
  BoundArgument tile = argument;
  const std::int64_t row = argument.shape.empty() ? 1 : argument.shape.back();
  if (element_count(argument.shape) > kTile) tile.shape = {std::max<std::int64_t>(1, kTile / row), row};
  std::vector<std::byte> other(tile.bytes());
  const bool fixed = argument.distribution.kind == Distribution::Kind::kFixed;
  if (!fixed || (variation.far && is_float(argument.dtype))) {
    fill_argument(tile, variation.far ? InputKind::kLarge : InputKind::kOwn, ~variation.seed, index, other);
    return other;
  }
  // An initializer's own values in another order: whatever holds for all of them still does.
  const std::size_t size = size_of(argument.dtype), count = argument.bytes() / size;
  RandomBits random(variation.seed, index);
  for (std::size_t i = 0; i < other.size(); i += size)
    std::memcpy(other.data() + i, argument.fixed->data.data() + random.next() % count * size, size);
  return other;
}

// Log-uniform in [1, most].
std::size_t drawn_length(RandomBits& random, std::size_t most) {
  return static_cast<std::size_t>(
      std::exp(random.uniform() * std::log(static_cast<double>(std::max<std::size_t>(most, 1)))));
}

// The special value number `which` in one reading.
float special_value(VariedPart reading, std::uint64_t which) {
  constexpr float kHuge = 1e30f;
  const bool plain = reading == VariedPart::kSpecial, other = reading == VariedPart::kSpecialOther;
  const float sign = (which % 2 == 0) != other ? 1.0f : -1.0f;
  switch (which / 2 % 4) {
    case 0:
      if (plain) return std::numeric_limits<float>::quiet_NaN();
      if (other) return sign * kHuge;
      return reading == VariedPart::kSpecialLow ? -kHuge : reading == VariedPart::kSpecialHigh ? kHuge : 0;
    case 1:
      return sign * (plain ? std::numeric_limits<float>::infinity() : kHuge);
    case 2:
      return plain ? sign * 1e-40f : 0;
    default:
      return sign * 0.0f;
  }
}

// One element of a floating type. A bfloat16 is the upper half of a float, special values included.
void put_element(DType dtype, float value, std::byte* to) {
  if (dtype == DType::kBFloat16) {
    const auto upper = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
    std::memcpy(to, &upper, sizeof upper);
  } else if (dtype == DType::kFloat16) {
    const auto narrow = static_cast<_Float16>(value);
    std::memcpy(to, &narrow, sizeof narrow);
  } else {
    std::memcpy(to, &value, sizeof value);
  }
}

void put_special_values(VariedPart reading, RandomBits& random, DType dtype, std::span<std::byte> data) {
  constexpr std::uint64_t kOneIn = 31;
  const std::size_t size = size_of(dtype);
  for (std::size_t at = 0; at + size <= data.size(); at += size) {
    std::uint64_t drawn = random.next();
    if (drawn % kOneIn != 0) continue;
    put_element(dtype, special_value(reading, drawn / kOneIn), data.data() + at);
  }
}

// One in three rows has one, up to sixteen: the others show what must stay as it is.
void put_few_special_values(VariedPart reading, RandomBits& random, const BoundArgument& argument,
                            std::span<std::byte> data) {
  constexpr std::uint64_t kMost = 16, kKinds[] = {0, 4, 0, 7};  // NaN, a denormal, NaN, -0
  const std::uint64_t row = argument.shape.empty() ? 1 : static_cast<std::uint64_t>(argument.shape.back());
  const std::size_t size = size_of(argument.dtype);
  const std::uint64_t rows = data.size() / size / std::max<std::uint64_t>(row, 1);
  const std::uint64_t count = std::clamp<std::uint64_t>(rows / 3, 1, kMost);
  for (std::uint64_t i = 0; i < count && rows > 0; ++i) {
    const std::uint64_t from = i * rows / count, to = (i + 1) * rows / count;
    const std::uint64_t first = (from + random.next() % (to - from)) * row, at = first + random.next() % row;
    const bool nan = kKinds[i % std::size(kKinds)] == 0;
    if (reading == VariedPart::kSpecialRow && nan) std::memset(data.data() + first * size, 0, row * size);
    put_element(argument.dtype, special_value(reading, kKinds[i % std::size(kKinds)]),
                data.data() + at * size);
  }
}

// The front of the tensor and what follows it change places. Where all values are equal nothing changes, and
// no answer has to.
void change_order(RandomBits& random, std::size_t size, std::span<std::byte> data) {
  const std::size_t count = data.size() / size;
  if (count < 2) return;
  const std::size_t front = std::min(drawn_length(random, count - 1), count - 1);
  std::rotate(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(front * size), data.end());
}

// Signs, masks, labels and rows that sum to 1 are no longer that when they are scaled.
bool may_be_scaled(const BoundArgument& argument) {
  using Kind = Distribution::Kind;
  const Kind kind = argument.distribution.kind;
  return is_float(argument.dtype) && argument.dtype != DType::kFloat64 &&
         (kind == Kind::kUniform || kind == Kind::kNormal || kind == Kind::kPositive || kind == Kind::kFixed);
}

float element_of(DType dtype, const std::byte* from) {
  if (dtype == DType::kFloat32) {
    float value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  std::uint16_t narrow;
  std::memcpy(&narrow, from, sizeof narrow);
  if (dtype == DType::kBFloat16) return std::bit_cast<float>(std::uint32_t{narrow} << 16);
  return static_cast<float>(std::bit_cast<_Float16>(narrow));
}

// Away from zero, never across a bound of zero; a unit or more in the last place of every type.
void change_slightly(RandomBits& random, DType dtype, std::span<std::byte> data) {
  const float factor =
      1 + (dtype == DType::kFloat32 ? 1e-3f : 8e-3f) * static_cast<float>(1 + random.uniform());
  const std::size_t size = size_of(dtype);
  for (std::size_t at = 0; at + size <= data.size(); at += size)
    put_element(dtype, element_of(dtype, data.data() + at) * factor, data.data() + at);
}

class Changer {
 public:
  Changer(std::span<std::byte> data, std::span<const std::byte> other, std::size_t size)
      : data_(data), other_(other), size_(size), count_(data.size() / size) {}

  void run(VariedPart part, RandomBits& random) {
    switch (part) {
      case VariedPart::kNothing:
        return;
      case VariedPart::kOne:
        return change(random.next() % count_, 1);
      case VariedPart::kFirst:
        return change(0, 1);
      case VariedPart::kLast:
        return change(count_ - 1, 1);
      case VariedPart::kFew:
        for (std::size_t i = 0; i < count_ / 256 + 2; ++i) change(random.next() % count_, 1);
        return;
      case VariedPart::kAllButPrefix: {
        std::size_t kept = drawn_length(random, count_ / 2);
        return change(kept, count_ - kept);
      }
      case VariedPart::kAllButSuffix:
        return change(0, count_ - drawn_length(random, count_ / 2));
      case VariedPart::kAllButStride: {
        std::size_t stride = std::size_t{2} << random.next() % 6;
        for (std::size_t i = 0; i < count_; ++i)
          if (i % stride != 0) change(i, 1);
        return;
      }
      case VariedPart::kAllButPages: {
        std::size_t block = kPage / size_;
        for (std::size_t first = 0; first < count_; first += block)
          if (random.next() % 2 == 0 || count_ <= block) change(first, block);
        return;
      }
      case VariedPart::kSlightly:  // what cannot be scaled
      case VariedPart::kAll:
        return change(0, count_);
      default:
        return;
    }
  }

 private:
  void change(std::size_t first, std::size_t count) {
    if (first >= count_) return;
    const std::size_t end = std::min(first + count, count_) * size_;
    for (std::size_t at = first * size_; at < end;) {
      const std::size_t from = at % other_.size(), part = std::min(end - at, other_.size() - from);
      std::memcpy(data_.data() + at, other_.data() + from, part);
      at += part;
    }
  }

  std::span<std::byte> data_;
  std::span<const std::byte> other_;
  std::size_t size_, count_;
};

}  // namespace

std::string_view words_of(VariedPart part) {
  switch (part) {
    case VariedPart::kNothing:
      return "in nothing";
    case VariedPart::kOne:
      return "in a single element";
    case VariedPart::kFirst:
      return "in the first element";
    case VariedPart::kLast:
      return "in the last element";
    case VariedPart::kFew:
      return "in a few elements";
    case VariedPart::kAllButPrefix:
      return "behind a common prefix";
    case VariedPart::kAllButSuffix:
      return "before a common suffix";
    case VariedPart::kAllButStride:
      return "between elements at a regular distance";
    case VariedPart::kAllButPages:
      return "in some of their pages";
    case VariedPart::kOrder:
      return "in the order of their values";
    case VariedPart::kSlightly:
      return "by a thousandth";
    case VariedPart::kAll:
      return "everywhere";
    case VariedPart::kSpecialRow:
    case VariedPart::kSpecialOther:
    case VariedPart::kSpecial:
    case VariedPart::kSpecialLow:
    case VariedPart::kSpecialHigh:
    case VariedPart::kSpecialZero:
      return "in special values";
  }
  return "";
}

void vary_argument(const BoundTask& task, std::size_t argument, const Variation& variation,
                   std::span<std::byte> data) {
  const BoundArgument& varied = task.arguments[argument];
  if (variation.part == VariedPart::kNothing || !may_vary(varied)) return;
  if (variation.part < VariedPart::kAll && !is_chosen(task, argument, variation)) return;
  RandomBits random(variation.seed, argument + 1);
  if (variation.part >= VariedPart::kSpecial) {
    const bool holds_them = is_float(varied.dtype) && varied.dtype != DType::kFloat64;
    if (static_cast<int>(argument) != variation.only || !holds_them) return;
    if (variation.sparse)
      put_few_special_values(variation.part, random, varied, data);
    else
      put_special_values(variation.part, random, varied.dtype, data);
    return;
  }
  if (variation.part == VariedPart::kOrder) return change_order(random, size_of(varied.dtype), data);
  if (variation.part == VariedPart::kSlightly && may_be_scaled(varied))
    return change_slightly(random, varied.dtype, data);
  const std::vector<std::byte> other = other_values(varied, argument, variation);
  Changer(data, other, size_of(varied.dtype)).run(variation.part, random);
}

}  // namespace kforge
