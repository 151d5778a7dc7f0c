#include "build/source_place.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "platform/binutils.h"

namespace kforge {
namespace {

constexpr std::size_t kMostPlaces = 6;

// By the candidate's own name for it; what belongs to headers of the system keeps the last part.
std::string file_name(std::string_view path, const Candidate& candidate) {
  for (const SourceFile& file : candidate.files)
    if (path == file.name || path.ends_with("/" + file.name)) return file.name;
  return printable(path.substr(path.rfind('/') + 1).substr(0, 80));
}

// "/somewhere/kernel.cc:12 (discriminator 3)", "??:0", "kernel.cc:?"
void read_place(std::string_view line, const Candidate& candidate, SourcePlace& place) {
  std::size_t colon = line.rfind(':');
  if (colon == std::string_view::npos || line.starts_with("??")) return;
  std::string_view number = line.substr(colon + 1);
  if (std::from_chars(number.data(), number.data() + number.size(), place.line).ec != std::errc() ||
      place.line < 1) {
    place.line = 0;
    return;
  }
  place.file = file_name(line.substr(0, colon), candidate);
}

}  // namespace

std::vector<SourcePlace> parse_addr2line(std::string_view text, const Candidate& candidate) {
  std::vector<SourcePlace> places;
  std::string_view function;
  while (!text.empty() && places.size() < kMostPlaces) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with("0x")) {
      function = {};
    } else if (function.empty()) {
      function = line;
    } else {
      SourcePlace place;
      place.function = function == "??" ? "" : printable(function.substr(0, 120));
      read_place(line, candidate, place);
      if (!place.function.empty() || place.line > 0) places.push_back(std::move(place));
      function = {};
    }
  }
  return places;
}

std::string to_text(const std::vector<SourcePlace>& places) {
  std::string text;
  for (const SourcePlace& place : places) {
    text += text.empty() ? "in " : ", called from ";
    text += place.function.empty() ? "?" : place.function;
    if (place.line > 0) text += fmt::format(" ({}:{})", place.file, place.line);
  }
  return text;
}

Result<std::vector<SourcePlace>> source_places(std::span<const std::uint64_t> frames,
                                               const Candidate& candidate, const Build& build,
                                               const Platform& platform, const BoundTask& task,
                                               const Machine& machine, BuildOptions options) {
  if (std::ranges::all_of(frames, [](std::uint64_t frame) { return frame == 0; }))
    return std::vector<SourcePlace>();
  options.march = build.march;
  options.extra_flags.push_back("-g1");
  KF_TRY(auto built, build_candidate(candidate, platform, task, machine, options));
  if (!built) return fail("the program does not build with line tables");
  BinutilsCall call{.program = "addr2line", .options = {"-a", "-f", "-i", "-C", "-e"}};
  call.machine = platform.run.machine;
  call.folders = platform.readable();
  // A caller's frame holds the instruction after its call.
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (frames[i] > 0) call.words.push_back(fmt::format("{:#x}", frames[i] - (i > 0 ? 1 : 0)));
  KF_TRY(const std::string said, ask_binutils(call, built->artefact, options.tier));
  return parse_addr2line(said, candidate);
}

}  // namespace kforge
