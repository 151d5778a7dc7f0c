// What a program may well have and the emulator has not: reported by name, so that "not verifiable here" says
// why.
#include <algorithm>
#include <array>

#include "emulate/rewrite.h"

namespace kforge::emulate {
namespace {

struct Missing {
  std::string_view word;  // as written; a '*' at the end: any ending
  std::string_view what;
};
constexpr std::array kCudaWords = {
    Missing{"tex1D*", "textures"},
    Missing{"tex2D*", "textures"},
    Missing{"tex3D*", "textures"},
    Missing{"cudaTextureObject_t", "textures"},
    Missing{"surf2D*", "surfaces"},
    Missing{"cudaSurfaceObject_t", "surfaces"},
    Missing{"CUtensorMap", "TMA (tensor maps)"},
    Missing{"__cluster_dims__", "thread block clusters"},
    Missing{"this_cluster", "thread block clusters"},
    Missing{"cluster_group", "thread block clusters"},
    Missing{"this_grid", "grid-wide synchronisation"},
    Missing{"grid_group", "grid-wide synchronisation"},
    Missing{"this_multi_grid", "grid-wide synchronisation"},
    Missing{"__managed__", "managed memory"},
    Missing{"cudaLaunchDevice*", "dynamic parallelism"},
    Missing{"__nv_fp8*", "8-bit floats"},
    Missing{"malloc", "allocation on the device"},
};
constexpr std::array kMetalWords = {
    Missing{"texture1d*", "textures"},
    Missing{"texture2d*", "textures"},
    Missing{"texture3d*", "textures"},
    Missing{"texturecube*", "textures"},
    Missing{"depth2d*", "textures"},
    Missing{"sampler", "textures"},
    Missing{"intersector", "ray tracing"},
    Missing{"visible_function_table", "function tables"},
    Missing{"tensor_ops", "tensor operations"},
    Missing{"simdgroup_async_copy", "asynchronous copies of simdgroups"},
};
constexpr std::array kHeaders = {
    Missing{"cuda/*", "libcu++ (<cuda/...>)"},
    Missing{"cub/*", "CUB"},
    Missing{"thrust/*", "Thrust"},
    Missing{"cute/*", "CUTLASS"},
    Missing{"cutlass/*", "CUTLASS"},
    Missing{"cublas*", "cuBLAS"},
    Missing{"cudnn*", "cuDNN"},
    Missing{"curand*", "cuRAND"},
    Missing{"cuda_fp8*", "8-bit floats"},
    Missing{"metal_raytracing", "ray tracing"},
    Missing{"metal_texture", "textures"},
    Missing{"MetalPerformancePrimitives*", "MetalPerformancePrimitives"},
};

bool matches(std::string_view pattern, std::string_view word) {
  if (pattern.ends_with('*')) return word.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == word;
}

template <std::size_t n>
std::string_view found_in(const std::array<Missing, n>& rows, std::string_view word) {
  for (const Missing& row : rows)
    if (matches(row.word, word)) return row.what;
  return {};
}

// A file's lines as the preprocessor sees them: continued lines joined, comments gone; with the number of the
// first.
template <class Visit>
void logical_lines(std::string_view text, Visit visit) {
  std::string line;
  int number = 1, first = 1;
  bool block_comment = false, line_comment = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : '\n';
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\\' && (next == '\n' || (next == '\r' && i + 2 < text.size() && text[i + 2] == '\n'))) {
      i += next == '\n' ? 1 : 2;
      ++number;
      continue;
    }
    if (c == '\n') {
      ++number;
      line_comment = false;
      if (block_comment) continue;
      visit(line, first);
      line.clear();
      first = number;
    } else if (block_comment) {
      if (c == '*' && next == '/') block_comment = false, ++i;
    } else if (!line_comment && c == '/' && next == '*') {
      block_comment = true, ++i;
      line += ' ';
    } else if (!line_comment && c == '/' && next == '/') {
      line_comment = true;
    } else if (!line_comment) {
      if (line.find_first_not_of(' ') == line.npos) first = number;
      line += c;
    }
  }
}

}  // namespace

void look_at_includes(std::string_view text, const std::string& file, Rewritten& out) {
  logical_lines(text, [&](std::string_view line, int number) {
    std::size_t at = line.find_first_not_of(" \t\v\f\r");
    if (at == line.npos) return;
    if (line[at] == '#')
      ++at;
    else if (line.substr(at, 2) == "%:")
      at += 2;
    else
      return;
    at = std::min(line.find_first_not_of(" \t\v\f\r", at), line.size());
    std::string_view rest = line.substr(at);
    if (rest.empty()) return;
    if (!rest.starts_with("include")) return;
    const std::size_t open = rest.find_first_of("<\"");
    if (open == rest.npos) return;
    const std::size_t close = rest.find_first_of(">\"", open + 1);
    if (const auto what = found_in(kHeaders, rest.substr(open + 1, close - open - 1)); !what.empty())
      out.unsupported.push_back({std::string(what), file, number});
  });
}

void find_unsupported(Language language, const TokenList& list, Rewritten& out) {
  for (const Token& token : list.tokens) {
    if (token.kind != Token::Kind::kWord) continue;
    const auto what =
        language == Language::kCuda ? found_in(kCudaWords, token.text) : found_in(kMetalWords, token.text);
    const auto file = static_cast<std::size_t>(token.file);
    if (!what.empty())
      out.unsupported.push_back(
          {std::string(what), file < list.files.size() ? list.files[file] : "", token.line});
  }
}

}  // namespace kforge::emulate
