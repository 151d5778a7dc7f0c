// One test per rewritten operator: the nodes it becomes and the shapes they have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/graph.h"

namespace kforge {
namespace {

using testing::HasSubstr;

std::string at_opset(int opset, std::string_view graph) {
  return fmt::format("<ir_version: 10, opset_import: [\"\" : {}]>\n{}", opset, graph);
}

struct UpgradeCase {
  const char* name;
  int opset;
  const char* graph;
  const char* expect;  // in the bound graph's listing
};

class Upgrade : public testing::TestWithParam<UpgradeCase> {};

TEST_P(Upgrade, BecomesOpset17) {
  auto graph = parse_graph_text(at_opset(GetParam().opset, GetParam().graph), "t");
  ASSERT_TRUE(graph) << graph.error().message;
  auto bound = bind_dims(*graph, {});
  ASSERT_TRUE(bound) << bound.error().message;
  EXPECT_THAT(print_graph(*bound), HasSubstr(GetParam().expect));
  EXPECT_TRUE(to_onnx_model(*bound));
}

std::string upgrade_name(const testing::TestParamInfo<UpgradeCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Newer, Upgrade,
    testing::Values(
        UpgradeCase{"Gelu", 20,
                    "g (float[2, 3] x) => (float[2, 3] y) { y = Gelu <approximate = \"tanh\"> (x) }",
                    "y : float32[2,3] = kforge.Gelu <approximate = \"tanh\"> (x)"},
        UpgradeCase{"Mish", 18, "g (float[2, 3] x) => (float[2, 3] y) { y = Mish (x) }", "kforge.Mish(x)"},
        UpgradeCase{"Swish", 24, "g (float[2] x) => (float[2] y) { y = Swish <alpha = 2.0> (x) }",
                    "kforge.Swish <alpha = 2> (x)"},
        UpgradeCase{"SwiGLU", 28, "g (float[2] a, float[2] b) => (float[2] y) { y = SwiGLU (a, b) }",
                    "kforge.Swish"},
        UpgradeCase{
            "RMSNormalization", 23,
            "g (float[2, 3] x, float[3] s) => (float[2, 3] y) { y = RMSNormalization <axis = -1, stash_type "
            "= 1> (x, s) }",
            "kforge.RMSNormalization <axis = -1> (x, s)"},
        UpgradeCase{
            "GroupNormalization18", 18,
            "g (float[2, 6, 5] x, float[3] s, float[3] b) => (float[2, 6, 5] y) { y = GroupNormalization "
            "<num_groups = 3> (x, s, b) }",
            "float32[3,2] = Tile"},
        UpgradeCase{
            "GroupNormalization21", 21,
            "g (float[2, 6, 5] x, float[6] s, float[6] b) => (float[2, 6, 5] y) { y = GroupNormalization "
            "<num_groups = 3> (x, s, b) }",
            "kforge.GroupNormalization <num_groups = 3> (x, s, b)"},
        UpgradeCase{"CumProd", 26,
                    "g (float[2, 3] x) => (float[2, 3] y) <int64 a = {1}> { y = CumProd (x, a) }",
                    "kforge.CumProd(x, a)"},
        UpgradeCase{"ReduceMaxAxesInput", 18,
                    "g (float[2, 3] x) => (float[2, 1] y) <int64[1] a = {1}> { y = ReduceMax (x, a) }",
                    "ReduceMax <axes = [1]> (x)"},
        UpgradeCase{
            "ReduceMeanComputedAxes", 18,
            "g (float[2, 3] x) => (float[1, 1] y) { s = Shape(x) r = Size(s) z = Constant <value = int64 "
            "{0}> () o = Constant <value = int64 {1}> () a = Range(z, r, o) y = ReduceMean (x, a) }",
            "ReduceMean <axes = [0, 1]> (x)"},
        UpgradeCase{"ReduceL2Noop", 18,
                    "g (float[2, 3] x) => (float[2, 3] y) { y = ReduceL2 <noop_with_empty_axes = 1> (x) }",
                    "Identity(x)"},
        UpgradeCase{"ReduceSumSquareAll", 18,
                    "g (float[2, 3] x) => (float y) { y = ReduceSumSquare <keepdims = 0> (x) }",
                    "float32[] = ReduceSumSquare"},
        UpgradeCase{"Split", 18,
                    "g (float[4] x) => (float[2] y, float[2] z) { y, z = Split <num_outputs = 2> (x) }",
                    "Split(x)"},
        UpgradeCase{
            "PadAxes", 18,
            "g (float[2, 3] x) => (float[2, 6] y) <int64[2] p = {1, 2}, int64[1] a = {-1}> { y = Pad (x, p, "
            ", a) }",
            "int64[4] {0, 1, 0, 2}"},
        UpgradeCase{"PadWithoutAxes", 21,
                    "g (float[3] x) => (float[6] y) <int64[2] p = {1, 2}> { y = Pad (x, p) }", "Pad(x, p)"},
        UpgradeCase{
            "ResizeAxesScales", 18,
            "g (float[1, 1, 4, 4] x) => (float[1, 1, 8, 12] y) <float[2] s = {2.0, 3.0}> { y = Resize <axes "
            "= [2, 3], antialias = 0> (x, , s) }",
            "float32[4] {1, 1, 2, 3}"},
        UpgradeCase{
            "ResizeAxesSizes", 18,
            "g (float[1, 1, 4, 4] x) => (float[1, 1, 7, 4] y) <int64[1] s = {7}> { y = Resize <axes = [2]> "
            "(x, , , s) }",
            "int64[4] {1, 1, 7, 4}"},
        UpgradeCase{
            "LpPool", 18,
            "g (float[1, 1, 4] x) => (float[1, 1, 3] y) { y = LpPool <kernel_shape = [2], dilations = [1], "
            "ceil_mode = 0> (x) }",
            "LpPool <kernel_shape = [2]> (x)"},
        UpgradeCase{
            "AveragePool", 19,
            "g (float[1, 1, 4] x) => (float[1, 1, 3] y) { y = AveragePool <kernel_shape = [2], dilations = "
            "[1]> (x) }",
            "AveragePool <kernel_shape = [2]> (x)"},
        UpgradeCase{"Cast", 19, "g (float[2] x) => (float16[2] y) { y = Cast <to = 10, saturate = 1> (x) }",
                    "Cast <to = 10> (x)"},
        UpgradeCase{
            "CastLike", 24,
            "g (float[2] x, float16[2] t) => (float16[2] y) { y = CastLike <saturate = 0, round_mode = "
            "\"up\"> (x, t) }",
            "CastLike(x, t)"},
        UpgradeCase{"QuantizeLinear", 21,
                    "g (float[2] x, float s, uint8 z) => (uint8[2] y) { y = QuantizeLinear <block_size = 0, "
                    "saturate = 1> (x, s, z) }",
                    "QuantizeLinear(x, s, z)"},
        UpgradeCase{
            "DequantizeLinear", 21,
            "g (uint8[2] x, float s, uint8 z) => (float[2] y) { y = DequantizeLinear <block_size = 0> (x, "
            "s, z) }",
            "DequantizeLinear(x, s, z)"},
        UpgradeCase{"DFT", 20,
                    "g (float[1, 8, 1] x) => (float[1, 8, 2] y) <int64 a = {1}> { y = DFT (x, , a) }",
                    "DFT <axis = 1> (x)"},
        UpgradeCase{
            "GridSample", 20,
            "g (float[1, 1, 4, 4] x, float[1, 2, 2, 2] c) => (float[1, 1, 2, 2] y) { y = GridSample <mode = "
            "\"linear\"> (x, c) }",
            "mode = \"bilinear\""},
        UpgradeCase{
            "Range", 27,
            "g (float[3] x) => (int64[3] y) <int64 a = {0}, int64 b = {3}, int64 c = {1}> { y = Range "
            "<stash_type = 1> (a, b, c) }",
            "int64[3]"},
        UpgradeCase{
            "SpaceToDepth", 28,
            "g (float[1, 1, 4, 4] x) => (float[1, 4, 2, 2] y) { y = SpaceToDepth <blocksize = 2, mode = "
            "\"DCR\"> (x) }",
            "SpaceToDepth <blocksize = 2> (x)"},
        UpgradeCase{
            "Attention4d", 23,
            "g (float[2, 8, 5, 4] q, float[2, 2, 7, 4] k, float[2, 2, 7, 3] v, bool[5, 7] m) => (float[2, "
            "8, 5, 3] y) { y = Attention (q, k, v, m) }",
            "float32[2,2,4,7,4] = Expand"},
        UpgradeCase{"Attention3d", 23,
                    "g (float[2, 5, 32] q, float[2, 5, 8] k, float[2, 5, 8] v) => (float[2, 5, 32] y) { y = "
                    "Attention <q_num_heads = 8, kv_num_heads = 2, is_causal = 1> (q, k, v) }",
                    "int64[5,5] = Trilu"},
        UpgradeCase{
            "AttentionCache", 24,
            "g (float[1, 2, 1, 4] q, float[1, 2, 1, 4] k, float[1, 2, 1, 4] v, float[1, 2, 6, 4] pk, "
            "float[1, 2, 6, 4] pv) => (float[1, 2, 1, 4] y, float[1, 2, 7, 4] nk, float[1, 2, 7, 4] nv)"
            "{ y, nk, nv = Attention <is_causal = 1, softcap = 3.0> (q, k, v, , pk, pv) }",
            "nk : float32[1,2,7,4]"},
        UpgradeCase{
            "RotaryEmbedding4d", 23,
            "g (float[2, 4, 5, 8] x, float[2, 5, 4] c, float[2, 5, 4] s) => (float[2, 4, 5, 8] y) { y = "
            "RotaryEmbedding (x, c, s) }",
            "float32[2,4,5,8] = Concat"},
        UpgradeCase{
            "RotaryEmbedding3d", 23,
            "g (float[2, 5, 32] x, float[9, 2] c, float[9, 2] s, int64[2, 5] p) => (float[2, 5, 32] y)"
            "{ y = RotaryEmbedding <num_heads = 4, interleaved = 1, rotary_embedding_dim = 4> (x, c, s, p) }",
            "y : float32[2,5,32] = Reshape"}),
    upgrade_name);

INSTANTIATE_TEST_SUITE_P(
    Older, Upgrade,
    testing::Values(
        UpgradeCase{"Softmax", 11, "g (float[2, 3, 4] x) => (float[2, 3, 4] y) { y = Softmax (x) }",
                    "float32[2,12] = Softmax <axis = 1>"},
        UpgradeCase{"LogSoftmax", 12,
                    "g (float[2, 3, 4] x) => (float[2, 3, 4] y) { y = LogSoftmax <axis = 2> (x) }",
                    "float32[6,4] = LogSoftmax"},
        UpgradeCase{"Hardmax", 9, "g (float[2, 3] x) => (float[2, 3] y) { y = Hardmax (x) }",
                    "Hardmax <axis = 1>"},
        UpgradeCase{"Squeeze", 11, "g (float[1, 3] x) => (float[3] y) { y = Squeeze <axes = [0]> (x) }",
                    "Squeeze(x, "},
        UpgradeCase{"Unsqueeze", 11, "g (float[3] x) => (float[1, 3] y) { y = Unsqueeze <axes = [0]> (x) }",
                    "Unsqueeze(x, "},
        UpgradeCase{"ReduceSum", 11,
                    "g (float[2, 3] x) => (float[2, 1] y) { y = ReduceSum <axes = [1]> (x) }",
                    "ReduceSum(x, "},
        UpgradeCase{"SplitSizes", 11,
                    "g (float[3] x) => (float[1] y, float[2] z) { y, z = Split <split = [1, 2]> (x) }",
                    "Split(x, "},
        UpgradeCase{"Clip", 6, "g (float[3] x) => (float[3] y) { y = Clip <min = 0.0, max = 6.0> (x) }",
                    "Clip(x, "},
        UpgradeCase{"ClipFloat16", 6, "g (float16[3] x) => (float16[3] y) { y = Clip <max = 6.0> (x) }",
                    "float16[] = CastLike"},
        UpgradeCase{"Dropout", 10, "g (float[3] x) => (float[3] y) { y = Dropout <ratio = 0.3> (x) }",
                    "Dropout(x)"},
        UpgradeCase{
            "BatchNormalization", 9,
            "g (float[2, 3] x, float[3] s, float[3] b, float[3] m, float[3] v) => (float[2, 3] y) { y = "
            "BatchNormalization (x, s, b, m, v) }",
            "BatchNormalization(x, s, b, m, v)"},
        UpgradeCase{"Pad", 9, "g (float[3] x) => (float[6] y) { y = Pad <pads = [1, 2], value = 1.5> (x) }",
                    "int64[2] {1, 2}"},
        UpgradeCase{
            "Slice", 9,
            "g (float[4, 3] x) => (float[2, 3] y) { y = Slice <starts = [1], ends = [3], axes = [0]> (x) }",
            "Slice(x, "},
        UpgradeCase{"TopK", 9,
                    "g (float[4] x) => (float[2] y, int64[2] i) { y, i = TopK <k = 2, axis = 0> (x) }",
                    "TopK <axis = 0> (x, "},
        UpgradeCase{
            "Upsample7", 8,
            "g (float[1, 1, 2, 2] x) => (float[1, 1, 4, 6] y) { y = Upsample <scales = [1.0, 1.0, 2.0, "
            "3.0]> (x) }",
            "nearest_mode = \"floor\""},
        UpgradeCase{
            "Upsample9", 9,
            "g (float[1, 1, 2, 2] x) => (float[1, 1, 4, 4] y) <float[4] s = {1.0, 1.0, 2.0, 2.0}> { y = "
            "Upsample (x, s) }",
            "Resize <coordinate_transformation_mode = \"asymmetric\""},
        UpgradeCase{
            "Resize10", 10,
            "g (float[1, 1, 2, 2] x) => (float[1, 1, 4, 4] y) <float[4] s = {1.0, 1.0, 2.0, 2.0}> { y = "
            "Resize (x, s) }",
            "(x, , s)"},
        UpgradeCase{"Scatter", 10,
                    "g (float[4] x, int64[2] i, float[2] u) => (float[4] y) { y = Scatter (x, i, u) }",
                    "ScatterElements(x, i, u)"},
        UpgradeCase{
            "RoiAlign", 10,
            "g (float[1, 1, 4, 4] x, float[1, 4] r, int64[1] b) => (float[1, 1, 1, 1] y) { y = RoiAlign (x, "
            "r, b) }",
            "output_half_pixel"},
        UpgradeCase{"Add6", 6,
                    "g (float[2, 3] x, float[3] z) => (float[2, 3] y) { y = Add <broadcast = 1> (x, z) }",
                    "Add(x, z)"},
        UpgradeCase{"Reshape1", 1, "g (float[2, 3] x) => (float[6] y) { y = Reshape <shape = [6]> (x) }",
                    "Reshape(x, "},
        UpgradeCase{"Relu1", 1,
                    "g (float[2, 3] x) => (float[2, 3] y) { y = Relu <consumed_inputs = [0]> (x) }",
                    "Relu(x)"},
        UpgradeCase{
            "Gemm6", 6,
            "g (float[2, 3] x, float[3, 4] w, float[4] b) => (float[2, 4] y) { y = Gemm <broadcast = 1> (x, "
            "w, b) }",
            "Gemm(x, w, b)"},
        UpgradeCase{
            "Lstm6", 6,
            "g (float[5, 2, 3] x, float[1, 16, 3] w, float[1, 16, 4] r) => (float[5, 1, 2, 4] y) { y = LSTM "
            "<hidden_size = 4, output_sequence = 1> (x, w, r) }",
            "LSTM <hidden_size = 4> (x, w, r)"}),
    upgrade_name);

class Refused : public testing::TestWithParam<UpgradeCase> {};
TEST_P(Refused, IsNamed) {
  auto graph = parse_graph_text(at_opset(GetParam().opset, GetParam().graph), "t");
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().message, HasSubstr(GetParam().expect));
}
INSTANTIATE_TEST_SUITE_P(
    All, Refused,
    testing::Values(
        UpgradeCase{"Newest", 99, "g (float[2] x) => (float[2] y) { y = Relu (x) }", "opset 99 is newer"},
        UpgradeCase{"Bitwise", 18, "g (int32[2] x) => (int32[2] y) { y = BitwiseNot (x) }",
                    "BitwiseNot of opset 18 is not supported"},
        UpgradeCase{"TooEarly", 17, "g (float[2] x) => (float[2] y) { y = Gelu (x) }",
                    "Gelu of opset 17 is not supported"},
        UpgradeCase{"OtherDomain", 17, "g (float[2] x) => (float[2] y) { y = com.acme.Magic (x) }",
                    "domain 'com.acme'"},
        UpgradeCase{"UnknownKforge", 17, "g (float[2] x) => (float[2] y) { y = kforge.Magic (x) }",
                    "no operator kforge.Magic"},
        UpgradeCase{
            "Antialias", 18,
            "g (float[1, 1, 4] x, float[3] s) => (float[1, 1, 2] y) { y = Resize <antialias = 1> (x, , s) }",
            "antialias = 1"},
        UpgradeCase{
            "PadWrap", 19,
            "g (float[3] x) => (float[6] y) <int64[2] p = {1, 2}> { y = Pad <mode = \"wrap\"> (x, p) }",
            "mode wrap"},
        UpgradeCase{"AxesFromValues", 18,
                    "g (float[2, 3] x, int64[1] a) => (float[2, 1] y) { y = ReduceMax (x, a) }",
                    "axes are computed from values"},
        UpgradeCase{
            "Dilations", 19,
            "g (float[1, 1, 9] x) => (float[1, 1, 7] y) { y = AveragePool <kernel_shape = [2], dilations = "
            "[2]> (x) }",
            "dilations = [2]"},
        UpgradeCase{"Scan8", 8, "g (float[1, 2, 3] x) => (float[1, 2, 3] y) { y = Scan (x) }",
                    "Scan of opset 8"},
        UpgradeCase{
            "BroadcastAxis", 6,
            "g (float[2, 3] x, float[2] z) => (float[2, 3] y) { y = Add <broadcast = 1, axis = 0> (x, z) }",
            "broadcasting along an axis"}),
    upgrade_name);

}  // namespace
}  // namespace kforge
