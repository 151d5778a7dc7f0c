#include "smith/graph/names.h"

#include <algorithm>
#include <array>

#include "base/cpp_keywords.h"

namespace kforge::smith {
namespace {

constexpr auto kTaken = std::to_array<std::string_view>(
    {// beside the keywords of C++
     "std", "size_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t",
     "uint64_t", "free", "memcpy", "memset", "aligned_alloc",
     // the program around the loops
     "State", "kThreadBytes", "kThreads", "kernel", "kernel_prepared", "main", "omp_get_max_threads",
     "omp_get_num_threads", "omp_get_thread_num", "prepare", "release", "s", "state", "task", "team_size",
     // locals of emitted loops
     "F", "I", "L", "T", "Tensors", "U", "body", "lane", "of", "result", "take", "u",
     // what the headers of kernels/ declare at file scope (a test compares)
     "AmxContraction", "AttentionKernel", "BlockedContraction", "ContractionDefaults", "DepthOffsets",
     "Depthwise", "ExpParts", "Fetch", "HalfVec", "Halves", "IVec", "Int", "Lane", "Larger", "Layout", "Of",
     "Pack", "Panels", "Partial", "PixelPanels", "PixelRows", "PixelSteps", "Plus", "Smaller", "StagedImage",
     "TapPhases", "TapRows", "Tile", "Times", "TransposedConvolution", "UVec", "Vec", "VecAt", "Winograd",
     "across", "allocated", "along", "at_least", "at_most", "backward", "ceil_of", "copy", "each",
     "each_mask", "erf_of", "erf_small", "erfc_of", "exp_low", "exp_of", "exp_parts", "expm1_of",
     "finish_tile", "floor_mod", "floor_of", "int_power", "kDepthOffsets", "kLanes", "kPixelSteps",
     "kTapPhases", "lane_apart", "last_lane", "load", "load_bf16", "load_f16", "load_first", "load_int",
     "load_mask", "log1p_of", "log_of", "lower", "magnitude", "maximum", "minimum", "mirrored", "nan_of",
     "negative_magnitude", "normal_cdf", "one_up", "pack_a_panel", "pack_b_panel", "pack_image_panel", "pick",
     "positions", "power_of_two", "prefix", "round_of", "scaled", "set", "shuffled", "sigmoid_of",
     "softplus_of", "some_vectors", "sqrt_of", "store", "store_bf16", "store_f16", "store_mask", "stream",
     "stream_copy", "stream_end", "strided", "tanh_of", "to_bf16", "to_float", "transpose", "transpose_into",
     "transpose_square", "upper", "whole", "widened", "with_sign_of", "top_k", "determinants", "grid_sample",
     "reflected", "Sampling", "Padding", "roi_align", "RoiAlignShape", "split_place", "Recurrence",
     "rnn_steps", "gru_steps", "lstm_steps", "gated_steps"});

}  // namespace

bool is_taken_name(std::string_view name) {
  return name.ends_with('_') || is_cpp_keyword(name) || std::ranges::find(kTaken, name) != kTaken.end();
}

std::string free_name(std::string_view name) {
  std::string free(name);
  while (free.ends_with('_')) free.pop_back();
  if (free.empty() || is_taken_name(free)) free += "_value";
  return free;
}

}  // namespace kforge::smith
