#include "generate/reply_names.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "generate/candidate.h"

namespace kforge {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Words of a short text, separated by blanks and the marks that people put around names.
std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view kBetween = " \t`*'\"#:,;()[]{}<>=";
  std::vector<std::string_view> words;
  text = text.substr(0, 300);
  while (!text.empty()) {
    std::size_t start = std::min(text.find_first_not_of(kBetween), text.size());
    text.remove_prefix(start);
    std::size_t end = std::min(text.find_first_of(kBetween), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

std::string plain_name(std::string_view word, const std::vector<std::string>& extensions, bool& outside) {
  while (word.starts_with("./")) word.remove_prefix(2);
  std::filesystem::path path(word);
  if (std::ranges::find(extensions, path.extension().string()) == extensions.end()) return "";
  if (path.stem().empty() || path.filename().string().starts_with('.')) return "";
  if (word.starts_with('/') || word.find("..") != std::string_view::npos) {
    outside = true;
    return "";
  }
  if (word.starts_with("src/")) word.remove_prefix(4);
  return good_source_name(word) ? std::string(word) : "";
}

std::string name_in(std::string_view text, const std::vector<std::string>& extensions, bool& outside) {
  for (std::string_view word : words_of(text))
    if (std::string name = plain_name(word, extensions, outside); !name.empty() || outside) return name;
  return "";
}

std::string_view first_line(std::string_view text) {
  return text.substr(0, std::min(text.find('\n'), text.size()));
}

// "// kernel.cc" or "// file: kernel.cc" as a block's first line: nothing but the name.
std::string name_in_comment(std::string_view content, const std::vector<std::string>& extensions,
                            bool& outside) {
  std::string_view line = first_line(content);
  if (!line.starts_with("//") && !line.starts_with('#') && !line.starts_with("/*")) return "";
  if (line.starts_with("#include") || words_of(line).size() > 4) return "";
  return name_in(line, extensions, outside);
}

}  // namespace

std::string name_of_block(const ReplyBlock& block, const std::vector<std::string>& extensions,
                          bool& outside) {
  if (std::string name = name_in(block.info, extensions, outside); !name.empty() || outside) return name;
  if (std::string name = name_in_comment(block.content, extensions, outside); !name.empty() || outside)
    return name;
  // Above the block a sentence may mention files in passing; a short line is a title.
  if (words_of(block.before).size() > 4) return "";
  bool ignored = false;
  return name_in(block.before, extensions, ignored);
}

std::string tag_of_block(const ReplyBlock& block) {
  std::string_view word =
      block.info.substr(0, std::min(block.info.find_first_of(" \t:{,="), block.info.size()));
  std::string tag;
  for (char c : word.substr(0, 32)) tag += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return tag;
}

bool tag_fits(std::string_view tag, std::string_view extension) {
  if (tag.empty() || tag == "text" || tag == "txt" || tag == "code" || tag == "plaintext") return true;
  struct Family {
    std::vector<std::string_view> extensions, tags;
  };
  static const Family kFamilies[] = {
      {{".cc", ".cpp", ".cxx", ".h", ".hpp", ".c"},
       {"cpp", "c++", "cc", "cxx", "c", "h", "hpp", "hh", "cpp20", "c++20"}},
      {{".cl"}, {"opencl", "cl", "c", "cpp", "opencl-c"}},
      {{".cu", ".cuh"}, {"cuda", "cu", "cpp", "c++", "c"}},
      {{".metal"}, {"metal", "msl", "cpp", "c++"}},
      {{".comp", ".glsl"}, {"glsl", "comp", "vulkan", "c"}},
      {{".py"}, {"python", "py", "triton", "python3"}},
      {{".json"}, {"json", "jsonc"}},
  };
  for (const Family& family : kFamilies)
    if (std::ranges::find(family.extensions, extension) != family.extensions.end())
      return std::ranges::find(family.tags, tag) != family.tags.end();
  return true;  // a platform of somebody's own: its language is not in the table
}

bool calls_or_defines(std::string_view code, std::string_view name) {
  for (std::size_t at = code.find(name); at != std::string_view::npos; at = code.find(name, at + 1)) {
    if (at > 0 && is_word(code[at - 1])) continue;
    std::size_t after = code.find_first_not_of(" \t\n", at + name.size());
    if (after != std::string_view::npos && code[after] == '(') return true;
  }
  return false;
}

}  // namespace kforge
