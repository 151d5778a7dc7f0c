// The constants of a contraction on AMX tiles; the method itself is kernels/contraction/amx.h.
#include "smith/contract/amx.h"

#include <fmt/format.h>

#include <algorithm>

#include "smith/contract/config_text.h"
#include "smith/expr/whole_numbers.h"

namespace kforge::smith {

namespace {

int splits_of(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::kBf16 ? 1 : arithmetic == Arithmetic::kBf16x3 ? 2 : 3;
}

}  // namespace

Result<ContractionCode> emit_amx_contraction(const Contraction& c, const ContractionSchedule& s) {
  if (s.a == Packing::kBlock || s.b == Packing::kBlock)
    return fail("{} packs whole operands", name_of(s.arithmetic));
  const int parts = splits_of(s.arithmetic);
  const long steps = ceil_div(c.k, 32), row_panels = ceil_div(c.m, 32), column_panels = ceil_div(c.n, 32);
  const long a_items = own_items(c.a), b_items = own_items(c.b),
             panel = steps * parts * 512;  // floats of one panel
  const long block_rows = std::clamp<long>(s.block_m / 32, 1, row_panels),
             block_columns = std::clamp<long>(s.block_n / 32, 1, column_panels);
  const long a_floats = whole_cache_lines(a_items * row_panels * panel),
             b_floats = whole_cache_lines(b_items * column_panels * panel);
  const long sums = block_rows * 32 * (block_columns * 32 + 16);
  ContractionCode code;
  code.name = c.name;
  code.threads = s.threads;
  code.prepared_floats =
      (s.a == Packing::kPrepare ? a_floats : 0) + (s.b == Packing::kPrepare ? b_floats : 0);
  code.scratch_floats =
      (s.a == Packing::kCall ? a_floats : 0) + (s.b == Packing::kCall ? b_floats : 0) + s.threads * sums;

  const int products = parts == 1 ? 1 : parts == 2 ? 3 : 6;
  const std::string comment = fmt::format(
      R"(// {0}
// c[{1}][{2}] = sum over k = {3} of a * b on AMX tiles: {4} product{5} of bf16 parts for each product of floats, summed in fp32.
// A block of 32 x 32 sums fills four tiles; {6} x {7} sums of a macro block stay in L2 while k goes on by {8}.
)",
      c.what, c.m, c.n, c.k, products, products > 1 ? "s" : "", block_rows * 32, block_columns * 32,
      std::max<long>(1, s.block_k / 32) * 32);
  ConfigText text(c.name, c.tensors);
  text.constants({{"kM", c.m}, {"kN", c.n}, {"kK", c.k}, {"kBatch", c.batch}});
  text.constants({{"kParts", parts}}, "bf16 values that make up a float");
  text.constants({{"kRowPanels", row_panels}, {"kColumnPanels", column_panels}}, "of 32");
  text.constants({{"kBlockRowPanels", block_rows},
                  {"kBlockColumnPanels", block_columns},
                  {"kBlockSteps", std::max<long>(1, s.block_k / 32)}});
  text.flag("kAnyWidth", true);
  text.flag("kStream", s.stream);
  text.operand(c.a, 'a', s.a, true, c.tensors);
  text.operand(c.b, 'b', s.b, true, c.tensors);
  const bool a_called = s.a == Packing::kCall, b_called = s.b == Packing::kCall;
  const long shared = (a_called ? a_floats : 0) + (b_called ? b_floats : 0);
  text.offsets(
      {{"kPackedB", a_called == b_called ? a_floats : 0}, {"kThreadScratch", shared}, {"kPerThread", sums}},
      "where buffers begin");
  text.finish(c, s);
  code.definitions = text.text(comment, "AmxContraction");
  code.headers = std::move(text.headers);
  code.headers.insert("contraction/amx.h");
  code.summary = fmt::format("{}: AMX tiles, {}, blocks {}x{}x{}", c.name, name_of(s.arithmetic),
                             block_rows * 32, block_columns * 32, s.block_k);
  return code;
}

}  // namespace kforge::smith
