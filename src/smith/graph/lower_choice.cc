// Operators that no loop nest describes: choosing the best k, writing at indices. Each is a few native
// lines of C++ around the tensors; everything about them that is elementwise has been stored before.
#include "smith/graph/native_code.h"

namespace kforge::smith {
namespace {

// Narrow floating types are stored as float by then.
std::string c_type(const Lowering&, const Value& v) { return std::string(c_type_of(v.dtype)); }

void top_k(Lowering& l) {
  const Value x = stored(l, l.input(0), l.node().outputs[0] + "_input");
  const auto axis = static_cast<std::size_t>(normal_axis(l.node().int_attr("axis", -1), x.rank()));
  const std::int64_t k = l.constant_ints(1)->at(0), length = x.shape[axis];
  if (k < 1 || k > 4096) throw Unsupported{fmt::format("for k = {}", k)};
  const bool largest = l.node().int_attr("largest", 1) != 0;
  std::int64_t outer = 1, inner = 1;
  for (std::size_t d = 0; d < x.rank(); ++d) (d < axis ? outer : inner) *= d == axis ? 1 : x.shape[d];
  Shape shape = x.shape;
  shape[axis] = k;
  const std::string values = l.new_tensor("best", x.dtype, shape),
                    indices = l.new_tensor("places", DType::kInt64, shape);
  NativeCode code;
  code.reads = {x.tensor};
  code.writes = {values, indices};
  code.parallel = true;
  code.headers = {"operators/top_k.h"};
  code.lines = fmt::format("top_k<{}, {}, {}, {}, {}, {}>({{{}}}, {{{}}}, {{{}}});", c_type(l, x), outer,
                           length, inner, k, largest, x.tensor, values, indices);
  l.add_native_code(std::move(code), l.node().name);
  l.define(0, l.tensor_value(values, shape));
  l.define(1, l.tensor_value(indices, shape));
}

// Copy of the data, then the updates in their order. `place` is C++ that makes `long at` from `long i`.
void scatter(Lowering& l, const Value& data, const Value& indices, const Value& updates,
             const std::string& place) {
  const std::string reduction = l.node().string_attr("reduction", "none");
  const std::string result = l.new_tensor("scattered", data.dtype, data.shape);
  // The copy is a stage of its own: threaded and vectorised as every other.
  Stage copy{.tensor = result, .view = data.shape, .dims = l.fresh_variables(data.shape)};
  copy.body = data.at(copy.dims);
  copy.label = l.node().name + " copy";
  l.program().stages.push_back(std::move(copy));
  std::string assign = "{" + result + "}[at_] = value_;";
  if (reduction == "add") assign = "{" + result + "}[at_] += value_;";
  if (reduction == "mul") assign = "{" + result + "}[at_] *= value_;";
  if (reduction == "max")
    assign = "if ({" + result + "}[at_] < value_ || value_ != value_) {" + result + "}[at_] = value_;";
  if (reduction == "min")
    assign = "if (value_ < {" + result + "}[at_] || value_ != value_) {" + result + "}[at_] = value_;";
  NativeCode code;
  code.reads = {result, indices.tensor, updates.tensor};
  code.writes = {result};
  code.lines = fmt::format("for (long i_ = 0; i_ < {}; ++i_) {{\n{}  const {} value_ = {{{}}}[i_];\n  {}\n}}",
                           element_count(updates.shape), place, c_type(l, updates), updates.tensor, assign);
  l.add_native_code(std::move(code), l.node().name);
  l.define(0, l.tensor_value(result, data.shape));
}

// Whole slices as they are in memory: threads share every slice, so that a later one still comes later.
void move_slices(Lowering& l, const Value& data, const Value& indices, const Value& updates,
                 std::int64_t slice, const std::string& place) {
  const std::string result = l.new_tensor("scattered", data.dtype, data.shape);
  l.program().tensors[result].dtype = data.dtype;  // bits are moved, nothing is rounded
  Stage copy{.tensor = result, .view = data.shape, .dims = l.fresh_variables(data.shape)};
  copy.body = data.at(copy.dims);
  copy.label = l.node().name + " copy";
  l.program().stages.push_back(std::move(copy));
  std::int64_t piece = slice;
  for (std::int64_t parts = 64; parts > 1; --parts)
    if (slice % parts == 0 && slice / parts >= 256) {
      piece = slice / parts;
      break;
    }
  NativeCode code;
  code.reads = {result, indices.tensor, updates.tensor};
  code.writes = {result};
  code.parallel = true;
  code.lines = fmt::format(
      "#pragma omp for schedule(static)\nfor (long part_ = 0; part_ < {}; part_ += {})\nfor (long i_ = "
      "part_; i_ "
      "< {}; i_ += {}) {{\n{}  std::memcpy({{{}}} + at_, {{{}}} + i_, {});\n}}",
      slice, piece, element_count(updates.shape), slice, place, result, updates.tensor,
      static_cast<std::size_t>(piece) * size_of(data.dtype));
  l.add_native_code(std::move(code), l.node().name);
  l.define(0, l.tensor_value(result, data.shape));
}

void scatter_nd(Lowering& l) {
  const Value data = l.input(0), indices = stored(l, l.input(1), "where"), given = l.input(2);
  const std::int64_t depth = indices.shape.back();
  std::int64_t slice = 1, stride = 1;
  std::vector<std::int64_t> strides(data.rank());
  for (std::size_t d = data.rank(); d-- > 0; stride *= data.shape[d]) strides[d] = stride;
  for (std::size_t d = static_cast<std::size_t>(depth); d < data.rank(); ++d) slice *= data.shape[d];
  std::string place = fmt::format("  long at_ = i_ % {};\n", slice);
  for (std::int64_t k = 0; k < depth; ++k) {
    const std::int64_t size = data.shape[static_cast<std::size_t>(k)];
    place += fmt::format(
        "  {{ const long j_ = {{{}}}[i_ / {} * {} + {}]; at_ += (j_ < 0 ? j_ + {} : j_) * {}; }}\n",
        indices.tensor, slice, depth, k, size, strides[static_cast<std::size_t>(k)]);
  }
  // Braces of the block above are C++, not names of tensors: keep them apart by spaces.
  if (l.node().string_attr("reduction", "none") == "none" && given.dtype == data.dtype &&
      !given.tensor.empty() && slice >= 256)
    return move_slices(l, data, indices, given, slice, place);
  scatter(l, data, indices, stored(l, given, "updates"), place);
}

void scatter_elements(Lowering& l) {
  const Value data = l.input(0), indices = stored(l, l.input(1), "where"),
              updates = stored(l, l.input(2), "updates");
  const auto axis = static_cast<std::size_t>(normal_axis(l.node().int_attr("axis", 0), data.rank()));
  std::string place = "  long at_ = 0, rest_ = i_;\n";
  std::int64_t stride = 1;
  for (std::size_t d = data.rank(); d-- > 0; stride *= data.shape[d]) {
    if (d == axis)
      place += fmt::format("  {{ const long j_ = {{{}}}[i_]; at_ += (j_ < 0 ? j_ + {} : j_) * {}; }}\n",
                           indices.tensor, data.shape[d], stride);
    else
      place += fmt::format("  at_ += rest_ % {} * {};\n", indices.shape[d], stride);
    place += fmt::format("  rest_ /= {};\n", indices.shape[d]);
  }
  scatter(l, data, indices, updates, place);
}

}  // namespace

const LowerTable& choice_table() {
  static const LowerTable table = {
      {"TopK", top_k},
      {"ScatterND", scatter_nd},
      {"ScatterElements", scatter_elements},
      {"Scatter", scatter_elements},
  };
  return table;
}

}  // namespace kforge::smith
