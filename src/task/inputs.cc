// fill_argument: which numbers an argument gets under which kind, and the blocks and threads that make them.
#include "task/inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>

#include "base/hash.h"
#include "task/random.h"

namespace kforge {
namespace {

using Kind = Distribution::Kind;

// How one tensor is made: a source of numbers with two parameters, then an optional fold into the positive.
struct Recipe {
  enum class Source : std::uint8_t { kUniform, kNormal, kHeavy, kWhole, kConstant, kTable, kIntegers };
  Source source = Source::kConstant;
  float a = 0, b = 0;    // low/high, mean/deviation, low/count, value, factor
  std::int64_t low = 0;  // kIntegers
  std::uint64_t range = 1;
  float fold_at = -INFINITY;  // numbers below are mirrored at it
  float positive_floor = 0;   // and then stay at or above this
};

// Mean and deviation of the task's own distribution.
struct Moments {
  double mean, deviation;
};
Moments moments(const Distribution& d) {
  if (d.kind == Kind::kNormal) return {d.a, d.b};
  return {(d.a + d.b) / 2, (d.b - d.a) / std::sqrt(12.0)};
}

float large_factor(DType dtype) { return dtype == DType::kFloat16 ? 1e3f : 1e4f; }

Recipe own(const Distribution& d) {
  auto a = static_cast<float>(d.a), b = static_cast<float>(d.b);
  return {d.kind == Kind::kNormal ? Recipe::Source::kNormal : Recipe::Source::kUniform, a, b};
}

Recipe free_recipe(const Distribution& d, InputKind kind, DType dtype, RandomBits& random) {
  using Source = Recipe::Source;
  auto [mean, deviation] = moments(d);
  auto m = static_cast<float>(mean), s = static_cast<float>(deviation);
  bool never_negative = d.kind == Kind::kUniform && d.a >= 0;
  switch (kind) {
    case InputKind::kOwn:
      return own(d);
    case InputKind::kNormal: {
      auto location = static_cast<float>(random.uniform() * 2 - 1),
           scale = static_cast<float>(0.5 + 1.5 * random.uniform());
      return {Source::kNormal, m + location * s, scale * s};
    }
    case InputKind::kHeavyTail:
      return {Source::kHeavy, m, s};
    case InputKind::kInteger:
      return never_negative ? Recipe{Source::kWhole, 0, 4} : Recipe{Source::kWhole, -3, 7};
    case InputKind::kLarge: {
      Recipe recipe = own(d);
      recipe.a *= large_factor(dtype), recipe.b *= large_factor(dtype);
      return recipe;
    }
    case InputKind::kShifted: {
      float sign = never_negative || random.next() % 2 ? 1.0f : -1.0f;
      return {Source::kNormal, m + sign * 1000 * s, s};
    }
    case InputKind::kEqual:
      return {Source::kConstant,
              static_cast<float>(d.kind == Kind::kNormal ? mean + deviation * (1 + random.uniform())
                                                         : d.a + (d.b - d.a) * random.uniform())};
    case InputKind::kZero:
      return {Source::kConstant, 0};
  }
  return own(d);
}

// Uniform in [a, b), and never zero or less whatever the kind.
Recipe positive_recipe(const Distribution& d, InputKind kind, DType dtype, RandomBits& random) {
  using Source = Recipe::Source;
  Recipe recipe;
  auto low = static_cast<float>(d.a);
  switch (kind) {
    case InputKind::kInteger:
      return {Source::kWhole, 1, 4};
    case InputKind::kZero:
      return {Source::kConstant, low};
    case InputKind::kShifted: {
      auto width = static_cast<float>(d.b - d.a);
      recipe = {Source::kUniform, low + 300 * width, low + 301 * width};
      break;
    }
    default:
      recipe = free_recipe(d, kind, dtype, random);
  }
  recipe.fold_at = low;
  recipe.positive_floor = low;
  return recipe;
}

Recipe integer_recipe(std::int64_t low, std::uint64_t range) {
  Recipe recipe{Recipe::Source::kIntegers};
  recipe.low = low;
  recipe.range = range;
  return recipe;
}

bool all_positive(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double v) { return v > 0; });
}

// An initializer's values under another kind: its own in another order and size, their sign kept where all
// share it.
Recipe fixed_recipe(const std::vector<double>& values, InputKind kind, DType dtype, RandomBits& random) {
  using Source = Recipe::Source;
  bool positive = all_positive(values);
  double smallest = values.empty() ? 0 : *std::ranges::min_element(values);
  switch (kind) {
    case InputKind::kNormal:
      return {Source::kTable, static_cast<float>(0.5 + 1.5 * random.uniform())};
    case InputKind::kHeavyTail:
      return {Source::kTable, 4.0f};
    case InputKind::kLarge:
      return {Source::kTable, large_factor(dtype)};
    case InputKind::kInteger:
      return positive ? Recipe{Source::kWhole, 1, 4} : Recipe{Source::kWhole, -3, 7};
    case InputKind::kEqual:
      return {Source::kConstant,
              values.empty() ? 0.0f : static_cast<float>(values[random.next() % values.size()])};
    case InputKind::kZero:
      return {Source::kConstant, positive ? static_cast<float>(smallest) : 0.0f};
    case InputKind::kOwn:
    case InputKind::kShifted:
      return {Source::kTable, 1.0f};
  }
  return {};
}

template <class T>
void store_cast(std::span<const std::int64_t> from, std::byte* to) {
  T* out = reinterpret_cast<T*>(to);
  for (std::size_t i = 0; i < from.size(); ++i) out[i] = static_cast<T>(from[i]);
}

void store_integers(std::span<const std::int64_t> from, DType dtype, std::byte* to) {
  switch (dtype) {
    case DType::kInt8:
      return store_cast<std::int8_t>(from, to);
    case DType::kInt16:
      return store_cast<std::int16_t>(from, to);
    case DType::kInt32:
      return store_cast<std::int32_t>(from, to);
    case DType::kInt64:
      return store_cast<std::int64_t>(from, to);
    case DType::kUInt8:
    case DType::kBool:
      return store_cast<std::uint8_t>(from, to);
    case DType::kUInt16:
      return store_cast<std::uint16_t>(from, to);
    case DType::kUInt32:
      return store_cast<std::uint32_t>(from, to);
    case DType::kUInt64:
      return store_cast<std::uint64_t>(from, to);
    case DType::kFloat32:
      return store_cast<float>(from, to);
    case DType::kFloat64:
      return store_cast<double>(from, to);
    case DType::kFloat16:
      for (std::size_t i = 0; i < from.size(); ++i)
        reinterpret_cast<std::uint16_t*>(to)[i] = fp16_from_float(static_cast<float>(from[i]));
      return;
    case DType::kBFloat16:
      for (std::size_t i = 0; i < from.size(); ++i)
        reinterpret_cast<std::uint16_t*>(to)[i] = bf16_from_float(static_cast<float>(from[i]));
      return;
    case DType::kString:
      return;
  }
}

void store_floats(std::span<float> from, DType dtype, std::byte* to) {
  switch (dtype) {
    case DType::kFloat32:
      std::memcpy(to, from.data(), from.size_bytes());
      return;
    case DType::kFloat64:
      for (std::size_t i = 0; i < from.size(); ++i) reinterpret_cast<double*>(to)[i] = from[i];
      return;
    case DType::kFloat16:
      store_fp16(from, reinterpret_cast<std::uint16_t*>(to));
      return;
    case DType::kBFloat16:
      store_bf16(from, reinterpret_cast<std::uint16_t*>(to));
      return;
    default: {
      std::int64_t whole[kRandomBlock];
      for (std::size_t i = 0; i < from.size(); ++i) whole[i] = static_cast<std::int64_t>(from[i]);
      store_integers({whole, from.size()}, dtype, to);
    }
  }
}

// Ranges of the tensor for up to two threads; small tensors stay on this one.
template <class Body>
void in_parallel(std::size_t count, std::size_t granule, std::size_t bytes, Body&& body) {
  constexpr std::size_t kWorthAThread = std::size_t{4} << 20;
  std::size_t granules = (count + granule - 1) / granule;
  if (bytes < kWorthAThread || granules < 2 || std::thread::hardware_concurrency() < 2) return body(0, count);
  std::size_t middle = granules / 2 * granule;
  std::thread other([&] { body(middle, count); });
  body(0, middle);
  other.join();
}

class Filler {
 public:
  Filler(const BoundArgument& argument, InputKind kind, std::uint64_t seed, std::size_t index,
         std::span<std::byte> to)
      : argument_(argument), to_(to), count_(static_cast<std::size_t>(element_count(argument.shape))) {
    // One way: who sees values cannot learn the seed from them, nor the values of another tensor or kind.
    std::string digest =
        Hasher().add(std::to_string(seed)).add(std::to_string(index)).add(name_of(kind)).hex();
    key_ = std::stoull(digest.substr(0, 16), nullptr, 16);
    KF_CHECK(to.size() == argument.bytes(), "'{}' has {} bytes, not {}", argument.name, argument.bytes(),
             to.size());
  }

  void fill(InputKind kind) {
    const Distribution& d = argument_.distribution;
    RandomBits random(key_, 1);
    switch (d.kind) {
      case Kind::kUniform:
      case Kind::kNormal:
        return run(free_recipe(d, kind, argument_.dtype, random));
      case Kind::kPositive:
        return run(positive_recipe(d, kind, argument_.dtype, random));
      case Kind::kInteger: {
        auto low = static_cast<std::int64_t>(d.a), high = static_cast<std::int64_t>(d.b);
        return run(integer_recipe(low, static_cast<std::uint64_t>(high - low)));
      }
      case Kind::kSigns:
        return signs();
      case Kind::kMask:
        return mask(d.a);
      case Kind::kProbability:
      case Kind::kLogProbability:
        return rows(kind, d.kind == Kind::kLogProbability);
      case Kind::kFixed:
        return fixed(kind, random);
    }
  }

 private:
  std::byte* at(std::size_t element) { return to_.data() + element * size_of(argument_.dtype); }

  template <class Make>
  void floats(Make&& make) {
    in_parallel(count_, kRandomBlock, to_.size(), [&](std::size_t begin, std::size_t end) {
      alignas(64) float block[kRandomBlock];
      for (std::size_t first = begin; first < end; first += kRandomBlock) {
        std::span<float> part(block, std::min(kRandomBlock, end - first));
        // Single floats go to memory once, without the detour.
        if (argument_.dtype == DType::kFloat32) part = {reinterpret_cast<float*>(at(first)), part.size()};
        make(first, part);
        if (argument_.dtype != DType::kFloat32) store_floats(part, argument_.dtype, at(first));
      }
    });
  }

  template <class Make>
  void integers(Make&& make) {
    in_parallel(count_, kRandomBlock, to_.size(), [&](std::size_t begin, std::size_t end) {
      alignas(64) std::int64_t block[kRandomBlock];
      for (std::size_t first = begin; first < end; first += kRandomBlock) {
        std::span<std::int64_t> part(block, std::min(kRandomBlock, end - first));
        make(first, part);
        store_integers(part, argument_.dtype, at(first));
      }
    });
  }

  void run(const Recipe& recipe) {
    using Source = Recipe::Source;
    if (recipe.source == Source::kIntegers)
      return integers([&](std::size_t first, std::span<std::int64_t> out) {
        random_integers(key_, first, out, recipe.low, recipe.range);
      });
    floats([&](std::size_t first, std::span<float> out) {
      switch (recipe.source) {
        case Source::kUniform:
          random_uniform(key_, first, out, recipe.a, recipe.b);
          break;
        case Source::kNormal:
          random_normal(key_, first, out, recipe.a, recipe.b);
          break;
        case Source::kHeavy:
          random_heavy(key_, first, out, recipe.a, recipe.b);
          break;
        case Source::kWhole:
          random_whole(key_, first, out, recipe.a, static_cast<std::uint32_t>(recipe.b));
          break;
        default:
          std::ranges::fill(out, recipe.a);
      }
      if (recipe.fold_at > -INFINITY)
        for (float& value : out) {
          value = value < recipe.fold_at ? 2 * recipe.fold_at - value : value;
          value = std::max(value, recipe.positive_floor);
        }
    });
  }

  void signs() {
    integers([&](std::size_t first, std::span<std::int64_t> out) {
      random_integers(key_, first, out, 0, 2);
      for (std::int64_t& value : out) value = 2 * value - 1;
    });
  }

  void mask(double probability) {
    constexpr std::uint64_t kSteps = std::uint64_t{1} << 32;
    auto limit = static_cast<std::int64_t>(probability * static_cast<double>(kSteps));
    integers([&](std::size_t first, std::span<std::int64_t> out) {
      random_integers(key_, first, out, 0, kSteps);
      for (std::int64_t& value : out) value = value < limit;
    });
  }

  // Positive numbers, divided by the sum of their row.
  void rows(InputKind kind, bool logarithm) {
    std::size_t row = argument_.shape.empty()
                          ? 1
                          : static_cast<std::size_t>(std::max<std::int64_t>(1, argument_.shape.back()));
    in_parallel(count_, row, to_.size(), [&](std::size_t begin, std::size_t end) {
      std::vector<float> values((row + kRandomBlock - 1) / kRandomBlock * kRandomBlock);
      for (std::size_t first = begin; first + row <= end; first += row) {
        // A stream per row, so that blocks start where rows do.
        std::uint64_t row_key = key_ + (first / row + 1) * 0x9e3779b97f4a7c15ULL;
        std::span<float> part(values.data(), row);
        if (kind == InputKind::kEqual || kind == InputKind::kZero) {
          std::ranges::fill(part, 1.0f);
        } else if (kind == InputKind::kHeavyTail || kind == InputKind::kLarge) {
          random_heavy(row_key, 0, part, 0, 1);
          for (float& value : part) value = std::fabs(value) + 1e-3f;
        } else {
          random_uniform(row_key, 0, part, 0.05f, 1.0f);
        }
        double sum = 0;
        for (float value : part) sum += value;
        for (float& value : part) {
          double share = value / sum;
          value = static_cast<float>(logarithm ? std::log(share) : share);
        }
        for (std::size_t done = 0; done < row; done += kRandomBlock)
          store_floats(part.subspan(done, std::min(kRandomBlock, row - done)), argument_.dtype,
                       at(first + done));
      }
    });
  }

  void fixed(InputKind kind, RandomBits& random) {
    const ConstantTensor& tensor = *argument_.fixed;
    if (kind == InputKind::kOwn || !is_float(argument_.dtype)) {
      std::memcpy(to_.data(), tensor.data.data(), to_.size());
      return;
    }
    std::vector<double> values = tensor.as_double();
    Recipe recipe = fixed_recipe(values, kind, argument_.dtype, random);
    if (recipe.source != Recipe::Source::kTable) return run(recipe);
    floats([&](std::size_t first, std::span<float> out) {
      std::int64_t chosen[kRandomBlock];
      random_integers(key_, first, {chosen, out.size()}, 0, values.size());
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(values[chosen[i]]) * recipe.a;
    });
  }

  const BoundArgument& argument_;
  std::span<std::byte> to_;
  std::size_t count_;
  std::uint64_t key_ = 0;
};

}  // namespace

std::string_view name_of(InputKind kind) {
  switch (kind) {
    case InputKind::kOwn:
      return "own";
    case InputKind::kNormal:
      return "normal";
    case InputKind::kHeavyTail:
      return "heavy_tail";
    case InputKind::kInteger:
      return "integer";
    case InputKind::kLarge:
      return "large";
    case InputKind::kShifted:
      return "shifted";
    case InputKind::kEqual:
      return "equal";
    case InputKind::kZero:
      return "zero";
  }
  return "";
}

void fill_argument(const BoundArgument& argument, InputKind kind, std::uint64_t seed,
                   std::size_t argument_index, std::span<std::byte> destination) {
  KF_CHECK(argument.role != Role::kOutput, "'{}' is an output", argument.name);
  if (destination.empty()) return;
  Filler(argument, kind, seed, argument_index, destination).fill(kind);
}

void fill_chosen(const BoundTask& task, std::size_t index, const InputChoice& choice,
                 std::span<std::byte> destination) {
  fill_argument(task.arguments[index], choice.kind, choice.seed, index, destination);
  vary_argument(task, index, choice.variation, destination);
}

}  // namespace kforge
