#include "smith/kernels/kernel_text.h"

#include <algorithm>

#include "base/result.h"

namespace kforge::smith {
namespace {

constexpr std::string_view kInclude = "#include \"smith/kernels/";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// Belongs to the header as a file, not to what it says.
bool is_frame(std::string_view line) {
  return line == "#pragma once" || line.starts_with("#include ") || line == "namespace {" ||
         line == "}  // namespace";
}

class Amalgamation {
 public:
  explicit Amalgamation(const std::set<std::string>& left_out) : done_(left_out.begin(), left_out.end()) {}

  void add(std::string_view path) {
    if (!done_.insert(path).second) return;
    const auto& all = kernel_headers();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& h) { return h.path == path; });
    KF_CHECK(found != all.end(), "no kernel header '{}'", path);
    const auto lines = lines_of(found->text);
    for (std::string_view line : lines)
      if (line.starts_with(kInclude)) {
        line.remove_prefix(kInclude.size());
        add(line.substr(0, line.find('"')));
      }
    // Named, so that a reader of the program finds the file. Of blank lines around what is left out none
    // stay.
    text.append("\n// ").append(path) += '\n';
    bool blank = false;
    for (std::string_view line : lines) {
      if (line.empty() || is_frame(line)) {
        blank = line.empty();
        continue;
      }
      if (blank) text += '\n';
      blank = false;
      text.append(line) += '\n';
    }
  }

  std::string text;

 private:
  std::set<std::string_view> done_;
};

}  // namespace

std::string kernel_text(const std::set<std::string>& headers, const std::set<std::string>& left_out) {
  Amalgamation all(left_out);
  for (const std::string& path : headers) all.add(path);
  return std::move(all.text);
}

}  // namespace kforge::smith
