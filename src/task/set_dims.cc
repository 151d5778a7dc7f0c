// Sizes given on the command line, in place of those of a shape set.
#include <charconv>

#include "base/nearest.h"
#include "task/task.h"

namespace kforge {
namespace {

// A tensor's number of elements is checked where the graph is bound; this only keeps its arithmetic sane.
constexpr std::int64_t kLargestDim = std::int64_t{1} << 40;

}  // namespace

Result<std::map<std::string, std::int64_t>> parse_dims(const std::vector<std::string>& texts) {
  std::map<std::string, std::int64_t> dims;
  for (std::string_view text : texts)
    while (!text.empty()) {
      std::size_t end = std::min(text.find(','), text.size()), equals = text.find('=');
      std::string_view name = text.substr(0, std::min(equals, end)), number;
      if (equals < end) number = text.substr(equals + 1, end - equals - 1);
      std::int64_t size = 0;
      auto read = std::from_chars(number.data(), number.data() + number.size(), size);
      if (name.empty() || number.empty() || read.ec != std::errc() ||
          read.ptr != number.data() + number.size() || size < 1 || size > kLargestDim)
        return fail_with_remedy(
            "write --set NAME=SIZE, such as --set B=32,D=64; sizes are whole and at least 1",
            fmt::format("--set: '{}' is no dimension with its size", text.substr(0, end)));
      if (!dims.emplace(name, size).second) return fail("--set: {} is given twice", name);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  return dims;
}

std::string dims_text(const std::map<std::string, std::int64_t>& dims) {
  std::string text;
  for (const auto& [name, size] : dims) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, size);
  return text;
}

Result<void> set_dims(Task& task, std::string_view shape_set,
                      const std::map<std::string, std::int64_t>& dims) {
  auto set = task.shapes.find(std::string(shape_set));
  if (dims.empty() || set == task.shapes.end()) return {};  // bind_task names a set that is not there
  for (ShapeCase& shape : set->second)
    for (const auto& [name, size] : dims) {
      auto found = shape.dims.find(name);
      if (found == shape.dims.end()) {
        std::vector<std::string> known;
        for (const auto& [symbol, extent] : shape.dims) known.push_back(symbol);
        return fail("--set: task {} has no dimension {}{}; {}", full_name(task), name,
                    did_you_mean(name, known),
                    known.empty() ? "all its sizes are fixed" : "it has " + dims_text(shape.dims));
      }
      found->second = size;
    }
  return {};
}

}  // namespace kforge
