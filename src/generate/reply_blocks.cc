#include "generate/reply_blocks.h"

#include <algorithm>

#include "base/text.h"

namespace kforge {
namespace {

struct Fence {
  char character = 0;
  std::size_t length = 0;  // 0: no fence
  std::string_view info;
};

Fence fence_of(std::string_view line) {
  std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  if (indent > 3 || indent == line.size()) return {};
  line.remove_prefix(indent);
  char c = line.front();
  if (c != '`' && c != '~') return {};
  std::size_t length = std::min(line.find_first_not_of(c), line.size());
  if (length < 3) return {};
  std::string_view info = trimmed(line.substr(length));
  // ```x``` on one line is inline code, not a block.
  if (c == '`' && info.find('`') != std::string_view::npos) return {};
  return {c, length, info};
}

// An info string that could begin a block of its own: one or a few short words, not the end of a sentence.
bool opens_block(const Fence& fence) { return !fence.info.empty() && fence.info.size() <= 120; }

struct Line {
  std::string_view text;
  std::size_t begin, next;  // offsets
};

Line line_at(std::string_view text, std::size_t begin) {
  std::size_t end = std::min(text.find('\n', begin), text.size());
  return {text.substr(begin, end - begin), begin, std::min(end + 1, text.size())};
}

struct Ending {
  std::size_t content_end, next;
  bool closed;
};

// Where the block opened by `fence` ends. With `nested`, a fence of the same kind with an info string begins
// an inner block, which has its own end; without, it means that the block before it was never closed.
Ending find_end(std::string_view text, std::size_t begin, const Fence& fence, bool nested) {
  std::size_t depth = 1;
  for (std::size_t at = begin; at < text.size();) {
    Line line = line_at(text, at);
    Fence found = fence_of(line.text);
    if (found.character == fence.character && found.length >= fence.length) {
      if (found.info.empty()) {
        if (--depth == 0) return {line.begin, line.next, true};
      } else if (opens_block(found) && found.length == fence.length) {
        if (!nested) return {line.begin, line.begin, false};
        ++depth;
      }
    }
    at = line.next;
  }
  return {text.size(), text.size(), false};
}

// A block opened by four backticks and closed by three, as happens: shorter fences inside come in pairs, so
// one that is left over was meant to close it.
std::string_view up_to_shorter_fence(std::string_view content, const Fence& opening) {
  std::size_t count = 0, last = content.size();
  for (std::size_t at = 0; at < content.size();) {
    Line line = line_at(content, at);
    Fence found = fence_of(line.text);
    if (found.character == opening.character && found.length < opening.length) ++count, last = line.begin;
    at = line.next;
  }
  return count % 2 == 1 ? content.substr(0, last) : content;
}

bool is_markdown(std::string_view info) {
  return info == "markdown" || info == "md" || info.starts_with("markdown ") || info.starts_with("md ");
}

class BlockScanner {
 public:
  explicit BlockScanner(std::string_view text) { scan(text, 0); }
  ReplyScan take() { return std::move(scan_); }

 private:
  void scan(std::string_view text, int depth) {
    std::string_view before;
    bool first = depth == 0;
    // Once the text ended inside a nested block, every later search would run to the end too: it is not tried
    // again.
    bool try_nested = true;
    for (std::size_t at = 0; at < text.size() && !scan_.too_many;) {
      Line line = line_at(text, at);
      Fence fence = fence_of(line.text);
      if (fence.length == 0) {
        if (!trimmed(line.text).empty()) before = trimmed(line.text);
        at = line.next;
        continue;
      }
      if (first) scan_.prose = text.substr(0, line.begin);
      first = false;
      Ending ending = find_end(text, line.next, fence, try_nested);
      if (!ending.closed && try_nested) {
        try_nested = false;
        ending = find_end(text, line.next, fence, false);
      }
      std::string_view content = text.substr(line.next, ending.content_end - line.next);
      if (!ending.closed) content = up_to_shorter_fence(content, fence);
      if (depth == 0 && is_markdown(fence.info))
        scan(content, depth + 1);
      else
        add({fence.info, before, content, ending.closed});
      before = {};
      at = ending.next;
    }
    if (first) scan_.prose = text;
  }

  void add(ReplyBlock block) {
    if (scan_.blocks.size() < kMostBlocks) return scan_.blocks.push_back(block);
    scan_.blocks.clear();
    scan_.too_many = true;
  }

  ReplyScan scan_;
};

}  // namespace

ReplyScan scan_blocks(std::string_view text) { return BlockScanner(text).take(); }

}  // namespace kforge
