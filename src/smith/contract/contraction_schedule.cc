#include "smith/contract/contraction_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace kforge::smith {

namespace {

constexpr std::array<std::string_view, 4> kPackingNames = {"in_place", "prepare", "call", "block"};
constexpr std::array<std::string_view, 4> kArithmeticNames = {"fp32", "bf16", "bf16x3", "bf16x6"};

template <class Enum, std::size_t count>
Result<Enum> from_name(const nlohmann::json& value, const std::array<std::string_view, count>& names,
                       std::string_view field) {
  const std::string name = value.is_string() ? value.get<std::string>() : value.dump();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return fail("contraction schedule: {} cannot be {}", field, name);
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view name_of(Packing packing) { return kPackingNames[static_cast<std::size_t>(packing)]; }
std::string_view name_of(Arithmetic arithmetic) {
  return kArithmeticNames[static_cast<std::size_t>(arithmetic)];
}

std::string to_json(const ContractionSchedule& s) {
  const nlohmann::ordered_json json = {
      {"lanes", s.lanes},       {"rows", s.rows},
      {"vectors", s.vectors},   {"block_m", s.block_m},
      {"block_n", s.block_n},   {"block_k", s.block_k},
      {"a", name_of(s.a)},      {"b", name_of(s.b)},
      {"threads", s.threads},   {"arithmetic", name_of(s.arithmetic)},
      {"stream", s.stream},     {"splits", s.splits},
      {"winograd", s.winograd}, {"pixel_rows", s.pixel_rows},
  };
  return json.dump();
}

Result<ContractionSchedule> contraction_schedule_from_json(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return fail("contraction schedule: not a JSON object");
  ContractionSchedule s;
  for (const auto& [key, value] : json.items()) {
    const auto number = [&](auto& field, long low, long high) -> Result<> {
      if (!value.is_number_integer()) return fail("contraction schedule: {} must be a whole number", key);
      const auto got = value.template get<std::int64_t>();
      if (got < low || got > high)
        return fail("contraction schedule: {} is {}, not in {}..{}", key, got, low, high);
      field = static_cast<std::decay_t<decltype(field)>>(got);
      return {};
    };
    constexpr long kMost = 1L << 40;
    Result<> done;
    if (key == "lanes")
      done = number(s.lanes, 1, 16);
    else if (key == "rows")
      done = number(s.rows, 1, 32);
    else if (key == "vectors")
      done = number(s.vectors, 1, 16);
    else if (key == "block_m")
      done = number(s.block_m, 1, kMost);
    else if (key == "block_n")
      done = number(s.block_n, 1, kMost);
    else if (key == "block_k")
      done = number(s.block_k, 1, kMost);
    else if (key == "threads")
      done = number(s.threads, 1, 4096);
    else if (key == "splits")
      done = number(s.splits, 1, 4096);
    else if (key == "stream" && value.is_boolean())
      s.stream = value.get<bool>();
    else if (key == "winograd" && value.is_boolean())
      s.winograd = value.get<bool>();
    else if (key == "pixel_rows" && value.is_boolean())
      s.pixel_rows = value.get<bool>();
    else if (key == "a" || key == "b") {
      KF_TRY((key == "a" ? s.a : s.b), from_name<Packing>(value, kPackingNames, key));
    } else if (key == "arithmetic") {
      KF_TRY(s.arithmetic, from_name<Arithmetic>(value, kArithmeticNames, key));
    } else {
      return fail("contraction schedule: {} is not one of its fields, or has the wrong type", key);
    }
    KF_TRY_VOID(done);
  }
  return s;
}

namespace {

Result<> check_operand(const Operand& operand, Packing packing, std::string_view which) {
  if (packing == Packing::kPrepare && !operand.param)
    return fail("operand {} changes from call to call: it cannot be packed in prepare", which);
  if (packing == Packing::kInPlace && (operand.dtype != DType::kFloat32 || !operand.element.empty()))
    return fail("operand {} is converted on its way: it cannot be read in place", which);
  return {};
}

}  // namespace

bool large_matrix(const Operand& b, const Contraction& c) {
  return b.param && c.batch == 1 && c.run == 0 && c.n * c.k >= 1 << 20;
}
bool streams_b_once(const Contraction& c, const ContractionSchedule& s) {
  return s.b == Packing::kPrepare && large_matrix(c.b, c) && c.m <= s.rows &&
         s.arithmetic == Arithmetic::kFp32;
}

Result<> check(const ContractionSchedule& s, const Contraction& c) {
  if (s.lanes != 4 && s.lanes != 8 && s.lanes != 16) return fail("lanes is {}, not 4, 8 or 16", s.lanes);
  const int registers = s.lanes == 16 ? 32 : 16;
  if (s.arithmetic == Arithmetic::kFp32 && s.rows * s.vectors + s.vectors + 1 > registers)
    return fail("a tile of {} x {} vectors does not fit {} registers", s.rows, s.vectors, registers);
  KF_TRY_VOID(check_operand(c.a, s.a, "a"));
  KF_TRY_VOID(check_operand(c.b, s.b, "b"));
  if (s.b == Packing::kInPlace && linear_stride(c.b.side) != 1)
    return fail("operand b does not lie along n: it must be packed");
  if (s.a == Packing::kInPlace && !(is_linear(c.a.side) && depth_is_linear(c.a)))
    return fail("operand a is not a plain matrix: it must be packed");
  if (s.b != Packing::kInPlace && c.phases) return fail("phases are read in place only");
  if (s.b != Packing::kInPlace && s.b != Packing::kBlock && c.run > 0)
    return fail("columns of an image are read in place, or packed just before their use");
  if (s.stream && (!c.stream_ok || (s.b == Packing::kInPlace ? c.run_length() : c.n) % s.lanes != 0))
    return fail("streaming stores need rows of the result that begin aligned");
  if (s.splits > 1) {
    const long slices = (c.k + s.block_k - 1) / s.block_k, each = (slices + s.splits - 1) / s.splits;
    if ((s.splits - 1) * each >= slices)
      return fail("{} slices of k cannot be shared out in {} parts", slices, s.splits);
    if (c.run > 0) return fail("k is not split for images");
    if (s.arithmetic != Arithmetic::kFp32) return fail("{} does not split k", name_of(s.arithmetic));
  }
  if (s.arithmetic != Arithmetic::kFp32) {
    if (s.lanes != 16) return fail("{} needs 16 lanes", name_of(s.arithmetic));
    if (s.a == Packing::kInPlace || s.b == Packing::kInPlace)
      return fail("{} needs both operands packed", name_of(s.arithmetic));
    if (s.block_k % 32 != 0 || s.block_m % 32 != 0 || s.block_n % 32 != 0)
      return fail("{} needs blocks that are multiples of 32", name_of(s.arithmetic));
  }
  return {};
}

std::vector<Arithmetic> allowed_arithmetic(const Machine& machine, std::string_view precision) {
  std::vector<Arithmetic> allowed;
  if (machine.features.contains("amx") && machine.features.contains("avx512_bf16")) {
    if (precision == "bf16") allowed.push_back(Arithmetic::kBf16);
    if (precision == "bf16" || precision == "fp16" || precision == "high")
      allowed.push_back(Arithmetic::kBf16x3);
    allowed.push_back(Arithmetic::kBf16x6);
  }
  allowed.push_back(Arithmetic::kFp32);
  return allowed;
}

}  // namespace kforge::smith
