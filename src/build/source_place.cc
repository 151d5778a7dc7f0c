#include "build/source_place.h"

#include <algorithm>
#include <charconv>

#include "base/files.h"
#include "base/text.h"
#include "platform/programs.h"

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

// Of the machine the program is for, else this one's.
std::optional<fs::path> find_addr2line(const Platform& platform) {
  if (!platform.run.machine.empty())
    if (auto own = find_program(platform.run.machine + "-linux-gnu-addr2line", platform.sandbox.read))
      return own;
  return find_program("addr2line", platform.sandbox.read);
}

Result<std::string> run_addr2line(const fs::path& artefact, std::span<const std::uint64_t> frames,
                                  const Platform& platform, SandboxTier tier) {
  auto program = find_addr2line(platform);
  if (!program) return fail_with_remedy("apt-get install binutils", "addr2line is not installed");
  // The build cache is private to the user; inside the sandbox another one reads.
  KF_TRY(TempDir folder, TempDir::create(0755));
  std::error_code error;
  fs::copy_file(artefact, folder.path() / "kernel.so", error);
  if (!error) fs::permissions(folder.path() / "kernel.so", fs::perms(0644), error);
  if (error) return fail("cannot copy {}: {}", artefact.string(), error.message());
  SandboxSpec spec;
  spec.profile = SandboxProfile::kCompile;
  spec.argv = {program->string(), "-a", "-f", "-i", "-C", "-e", (folder.path() / "kernel.so").string()};
  // A caller's frame holds the instruction after its call.
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (frames[i] > 0) spec.argv.push_back(fmt::format("{:#x}", frames[i] - (i > 0 ? 1 : 0)));
  spec.readable = platform.readable();
  spec.readable.push_back(folder.path());
  spec.env = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}};
  spec.limits.wall = std::chrono::seconds(10);
  spec.limits.cpu_seconds = 10;
  spec.limits.memory_bytes = 2ull << 30;
  spec.limits.output_bytes = 1 << 20;
  KF_TRY(auto process, start_sandboxed(spec, tier));
  KF_TRY(SandboxExit exit, process->wait());
  if (exit.exit_code != 0 || exit.signal != 0 || exit.wall_exceeded) return fail("addr2line failed");
  return std::move(exit.out);
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
  KF_TRY(std::string said, run_addr2line(built->artefact, frames, platform, options.tier));
  return parse_addr2line(said, candidate);
}

}  // namespace kforge
