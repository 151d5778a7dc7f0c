// For tests of pages: whether every element is closed where it should be, as an XML parser asks.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace kforge {

// "" for a page that is well-formed; else what is wrong with it.
inline std::string page_fault(std::string_view page) {
  std::vector<std::string> open;
  if (!page.starts_with("<!DOCTYPE html>")) return "no document type";
  page.remove_prefix(15);
  for (std::size_t at = page.find_first_of("<&>"); at != page.npos; at = page.find_first_of("<&>", at)) {
    const std::string around(page.substr(at > 40 ? at - 40 : 0, 120));
    if (page[at] == '&') {
      const std::size_t end = page.find(';', at);
      if (end == page.npos || end - at > 8) return "a bare '&': " + around;
      at = end;
      continue;
    }
    if (page[at] == '>') {
      // Allowed by XML; of ours only the style sheet has one.
      if (open.empty() || open.back() != "style") return "a bare '>': " + around;
      ++at;
      continue;
    }
    const std::size_t end = page.find('>', at);
    if (end == page.npos) return "an unclosed tag: " + around;
    std::string_view tag = page.substr(at + 1, end - at - 1);
    if (tag.find('<') != tag.npos) return "a tag in a tag: " + around;
    at = end + 1;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return "closed and not open: " + around;
      open.pop_back();
      continue;
    }
    if (tag.ends_with('/')) continue;
    open.emplace_back(tag.substr(0, tag.find_first_of(" \n")));
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

}  // namespace kforge
