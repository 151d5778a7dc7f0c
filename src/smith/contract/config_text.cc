#include "smith/contract/config_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace kforge::smith {

bool mentions(const std::string& text, const std::string& name) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const bool starts = at == 0 || !is_word(text[at - 1]);
    const std::size_t end = at + name.size();
    if (starts && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

namespace {

// Tensors that a text names, as locals.
std::string tensor_aliases(const std::vector<Tensor>& tensors, const std::string& text) {
  std::string out;
  for (const Tensor& tensor : tensors)
    if (mentions(text, tensor.name))
      out += fmt::format("    {} const {} = t.{};\n", tensor.type, tensor.name, tensor.name);
  return out;
}

// Lines of a text, each behind the indent.
std::string indented(const std::string& text, std::string_view indent) {
  std::string out;
  bool line_start = true;
  for (char c : text) {
    if (line_start && c != '\n') out += indent;
    out += c;
    line_start = c == '\n';
  }
  if (!line_start) out += '\n';
  return out;
}

// A function of one index; where it is the same for all of them, the index has no name.
std::string index_function(const std::string& name, const std::string& value) {
  return fmt::format("static constexpr long {}(long{}) {{ return {}; }}", name,
                     mentions(value, "i") ? " i" : "", value);
}

std::string_view enumerator(Packing packing) {
  switch (packing) {
    case Packing::kInPlace:
      return "Pack::kInPlace";
    case Packing::kPrepare:
      return "Pack::kPrepare";
    case Packing::kCall:
      return "Pack::kCall";
    case Packing::kBlock:
      break;
  }
  return "Pack::kBlock";
}

// A plain float matrix, whose elements vectors can be loaded from.
bool is_matrix(const Operand& operand) {
  return operand.element.empty() && operand.dtype == DType::kFloat32 && is_linear(operand.side);
}

// Batch index to the item of an operand that is packed as a whole (broadcast operands have fewer items), and
// back to the first batch index of an item.
struct ItemAxes {
  std::vector<Axis> item, batch;
};
ItemAxes item_axes(const Operand& operand) {
  ItemAxes axes;
  axes.item = operand.batch;
  long items = 1, below = 1;
  for (std::size_t i = operand.batch.size(); i-- > 0;) {
    const auto [extent, stride] = operand.batch[i];
    const bool own = stride != 0;
    axes.item[i].stride = own ? items : 0;
    if (own) axes.batch.insert(axes.batch.begin(), {extent, below});
    if (own) items *= extent;
    below *= extent;
  }
  return axes;
}

}  // namespace

ConfigText::ConfigText(const std::string& name, const std::vector<Tensor>& tensors) : name_(name) {
  body_ = "  struct Tensors {\n";
  for (const Tensor& tensor : tensors) body_ += fmt::format("    {} {};\n", tensor.type, tensor.name);
  body_ += "  };\n";
}

void ConfigText::line(const std::string& text) { body_ += "  " + text + "\n"; }

void ConfigText::constants(std::initializer_list<Constant> list, std::string_view why) {
  std::string text;
  for (const auto& [name, value] : list)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  if (!text.empty())
    line(fmt::format("static constexpr long {};{}{}", text, why.empty() ? "" : "  // ", why));
}

void ConfigText::offsets(std::initializer_list<Constant> list, std::string_view why) {
  std::string text;
  for (const auto& [name, value] : list)
    if (value != 0) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  if (!text.empty())
    line(fmt::format("static constexpr long {};{}{}", text, why.empty() ? "" : "  // ", why));
}

void ConfigText::flag(std::string_view name, bool value) {
  if (value) line(fmt::format("static constexpr bool {} = true;", name));
}

void ConfigText::tile(const ContractionSchedule& s, const RowPanels& rows) {
  line(fmt::format("static_assert(kLanes == {}, \"the schedule is for vectors of {} floats\");", s.lanes,
                   s.lanes));
  constants({{"kRows", rows.tall}, {"kVectors", s.vectors}}, "the register tile");
  line("static constexpr long kTileN = kVectors * kLanes;");
  constants({{"kRowPanels", rows.panels}, {"kTallPanels", rows.tall_count}});
}

void ConfigText::operand(const Operand& operand, char which, Packing packing, bool elements,
                         const std::vector<Tensor>& tensors) {
  const char name = which == 'a' ? 'A' : 'B';
  line(fmt::format("static constexpr Pack kPack{} = {};", name, enumerator(packing)));
  if (operand.element.empty()) {
    if (operand.dtype == DType::kFloat32 && elements) pointer(std::string(1, which), operand.pointer);
    const auto function = [&](std::string_view what, const std::string& text) {
      line(index_function(fmt::format("{}_{}", which, what), text));
    };
    function("batch", (operand.offset ? fmt::format("{} + ", operand.offset) : "") +
                          offset_expression(operand.batch, "i"));
    function("side", offset_expression(operand.side, "i"));
    function("depth", depth_expression(operand, "i"));
    if (is_linear(operand.side)) offsets({{which == 'a' ? "kASide" : "kBSide", linear_stride(operand.side)}});
    if (depth_is_linear(operand))
      offsets({{which == 'a' ? "kADepth" : "kBDepth", linear_stride(operand.depth)}});
  }
  if (packing == Packing::kInPlace || !elements) return;
  if (is_matrix(operand)) {
    const bool along_depth = depth_is_linear(operand) && linear_stride(operand.depth) == 1,
               along_side = linear_stride(operand.side) == 1;
    // Where both do (one of them has a single step), a is transposed and b is copied.
    const bool first = which == 'a' ? along_depth : along_side;
    const char* layout =
        first ? (which == 'a' ? "kAlongDepth" : "kAlongSide") : (which == 'a' ? "kAlongSide" : "kAlongDepth");
    if (along_depth || along_side)
      line(fmt::format("static constexpr Layout kLayout{} = Layout::{};", name, layout));
  }
  std::string element = operand.element;
  if (element.empty()) {
    const std::string at = fmt::format("{0}_batch(batch) + {0}_side(side) + {0}_depth(depth)", which);
    if (operand.dtype == DType::kBFloat16) {
      element = fmt::format("load_bf16<float>({} + {})", operand.pointer, at);
      headers.insert("memory/bf16.h");
    } else if (operand.dtype == DType::kFloat32) {
      element = fmt::format("{}[{}]", operand.pointer, at);
    } else {
      element = fmt::format("float({}[{}])", operand.pointer, at);
    }
  }
  line(fmt::format("static SMITH_INLINE float {}_element(const Tensors& t, long{}, long side, long depth) {{",
                   which, mentions(element, "batch") ? " batch" : ""));
  body_ += tensor_aliases(tensors, element);
  body_ += fmt::format("    return {};\n  }}\n", element);
  if (operand.batch.empty()) return;
  const ItemAxes axes = item_axes(operand);
  constants({{which == 'a' ? "kAItems" : "kBItems", own_items(operand)}},
            "of the batch that have an operand of their own");
  line(index_function(fmt::format("{}_item", which), offset_expression(axes.item, "i")));
  line(index_function(fmt::format("{}_batch_of", which), offset_expression(axes.batch, "i")));
}

void ConfigText::staged_image(const Staging& staging) {
  const StagedImage& image = staging.image;
  constants({{"kChannels", staging.channels},
             {"kInD", staging.input[0]},
             {"kInH", staging.input[1]},
             {"kInW", staging.input[2]}});
  constants({{"kPadD", image.begins[0]}, {"kPadH", image.begins[1]}, {"kPadW", image.begins[2]}});
  constants({{"kStagedD", image.depth},
             {"kStagedH", image.height},
             {"kStagedW", image.width},
             {"kPhases", image.phases}},
            "the padded copy");
  constants({{"kChannelStride", image.channel}, {"kPlaneStride", image.plane}, {"kRowStride", image.row}});
}

void ConfigText::tap_rows(const TapRows& r) {
  const auto two = [](const long* v) { return fmt::format("{{{}, {}}}", v[0], v[1]); };
  flag("kSkipsPadding", true);
  line(fmt::format(
      "static constexpr TapRows kTapRows = {{.width = {}, .out = {}, .taps = {}, .strides = {}, .dilations = "
      "{}, .begins = {}, .input = {}}};",
      r.width, two(r.out), two(r.taps), two(r.strides), two(r.dilations), two(r.begins), two(r.input)));
}

void ConfigText::pointer(std::string_view name, const std::string& tensor) {
  line(fmt::format("static const float* {}(const Tensors& t) {{ return t.{}; }}", name, tensor));
}

void ConfigText::finish(const Contraction& c, const ContractionSchedule& s) {
  const auto function = [&](std::string_view what, const FinishSite& site) {
    const std::string text = c.finish(site);
    const auto index = [&](const char* name) {
      return fmt::format("long{}", mentions(text, name) ? fmt::format(" {}", name) : "");
    };
    line(fmt::format(
        "static SMITH_INLINE void finish_{}(const Tensors& t, {}, {}, {}, const float* sum_at) {{", what,
        index("batch"), index("row"), index("column")));
    body_ += tensor_aliases(c.tensors, text) + indented(text, "    ");
    line("}");
  };
  line("// Sums become " + c.what + ".");
  function("vector", {s.lanes, s.stream});
  function("element", {1, false});
}

std::string ConfigText::text(const std::string& comment, std::string_view kernel) const {
  return fmt::format("{}struct {}_config : ContractionDefaults {{\n{}}};\nusing {} = {}<{}_config>;\n",
                     comment, name_, body_, name_, kernel, name_);
}

}  // namespace kforge::smith
