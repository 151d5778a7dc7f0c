// What a program may well have and the emulator has not: reported by name, so that "not verifiable here" says
// why.
#include <algorithm>
#include <array>

#include "emulate/rewrite.h"

namespace kforge::emulate {
namespace {

struct Row {
  std::string_view word;  // as written; a '*' at the end: any ending
  std::string_view what;
};
constexpr std::array kCudaWords = {
    Row{"tex1D*", "textures"},
    Row{"tex2D*", "textures"},
    Row{"tex3D*", "textures"},
    Row{"cudaTextureObject_t", "textures"},
    Row{"surf2D*", "surfaces"},
    Row{"cudaSurfaceObject_t", "surfaces"},
    Row{"CUtensorMap", "TMA (tensor maps)"},
    Row{"__cluster_dims__", "thread block clusters"},
    Row{"this_cluster", "thread block clusters"},
    Row{"cluster_group", "thread block clusters"},
    Row{"this_grid", "grid-wide synchronisation"},
    Row{"grid_group", "grid-wide synchronisation"},
    Row{"this_multi_grid", "grid-wide synchronisation"},
    Row{"__managed__", "managed memory"},
    Row{"cudaLaunchDevice*", "dynamic parallelism"},
    Row{"__nv_fp8*", "8-bit floats"},
    Row{"malloc", "allocation on the device"},
};
constexpr std::array kMetalWords = {
    Row{"texture1d*", "textures"},
    Row{"texture2d*", "textures"},
    Row{"texture3d*", "textures"},
    Row{"texturecube*", "textures"},
    Row{"depth2d*", "textures"},
    Row{"sampler", "textures"},
    Row{"intersector", "ray tracing"},
    Row{"visible_function_table", "function tables"},
    Row{"tensor_ops", "tensor operations"},
    Row{"simdgroup_async_copy", "asynchronous copies of simdgroups"},
};
constexpr std::array kHeaders = {
    Row{"cuda/*", "libcu++ (<cuda/...>)"},
    Row{"cub/*", "CUB"},
    Row{"thrust/*", "Thrust"},
    Row{"cute/*", "CUTLASS"},
    Row{"cutlass/*", "CUTLASS"},
    Row{"cublas*", "cuBLAS"},
    Row{"cudnn*", "cuDNN"},
    Row{"curand*", "cuRAND"},
    Row{"cuda_fp8*", "8-bit floats"},
    Row{"metal_raytracing", "ray tracing"},
    Row{"metal_texture", "textures"},
    Row{"MetalPerformancePrimitives*", "MetalPerformancePrimitives"},
};

bool matches(std::string_view pattern, std::string_view word) {
  if (pattern.ends_with('*')) return word.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == word;
}

template <std::size_t n>
std::string_view found_in(const std::array<Row, n>& rows, std::string_view word) {
  for (const Row& row : rows)
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
