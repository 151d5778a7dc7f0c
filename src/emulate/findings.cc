#include "emulate/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <set>

#include "base/files.h"
#include "emulate/runtime/report.h"
#include "platform/binutils.h"

namespace kforge::emulate {
namespace {

constexpr std::string_view kFolder = "/kfe/";  // where the compiler was told it works

template <std::size_t n>
std::string text_of(const char (&text)[n]) {
  std::string out(text, strnlen(text, n));
  for (char& c : out)
    if (c < 0x20 || c > 0x7e) c = '?';
  return out;
}

struct SourceLine {
  std::string file;
  int line = 0;
};

// The innermost line of the candidate's own text, from the frames of one address: "FILE:LINE (discriminator
// 2)".
SourceLine own_line(const std::vector<std::string_view>& frames) {
  for (std::string_view frame : frames) {
    frame = frame.substr(0, frame.find(' '));
    const std::size_t colon = frame.rfind(':');
    if (!frame.starts_with(kFolder) || frame.find("/include/") != frame.npos || colon == frame.npos) continue;
    SourceLine found{std::string(frame.substr(kFolder.size(), colon - kFolder.size())), 0};
    std::from_chars(frame.data() + colon + 1, frame.data() + frame.size(), found.line);
    return found;
  }
  return {};
}

// Offsets of instructions in the library to lines.
Result<std::map<std::uint64_t, SourceLine>> look_up(const std::set<std::uint64_t>& offsets,
                                                    const fs::path& library, SandboxTier tier) {
  std::map<std::uint64_t, SourceLine> lines;
  if (offsets.empty()) return lines;
  BinutilsCall call{.program = "addr2line", .options = {"-a", "-i", "-e"}, .most_output = 4 << 20};
  for (std::uint64_t offset : offsets) call.words.push_back(fmt::format("{:#x}", offset));
  const auto answer = ask_binutils(call, library, tier);
  if (!answer && !answer.error().remedy.empty()) return std::unexpected(answer.error());
  if (!answer)
    return lines;  // debug information that it chokes on: the finding stands, its line is not known
  const std::string& said = *answer;
  std::uint64_t at = 0;
  std::vector<std::string_view> frames;
  auto finish = [&] {
    if (at) lines[at] = own_line(frames);
    frames.clear();
  };
  for (std::size_t begin = 0; begin < said.size();) {
    const std::size_t end = std::min(said.find('\n', begin), said.size());
    const std::string_view line = std::string_view(said).substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("0x")) {
      finish();
      std::from_chars(line.data() + 2, line.data() + line.size(), at, 16);
    } else {
      frames.push_back(line);
    }
  }
  finish();
  return lines;
}

// The call before a return address.
std::uint64_t instruction_of(std::uint64_t offset) { return offset ? offset - 1 : 0; }

// A figure that arithmetic can go on with.
bool sane(double figure) { return figure >= 0 && figure < 1e18; }

// From the launches that were counted to all of them.
double scale_of(const KfeLaunch& launch) {
  return launch.counted ? static_cast<double>(launch.times) / launch.counted : 0;
}

void read_counts(const KfeReport& raw, Report& report) {
  report.overflowed = raw.overflowed != 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(raw.launches, KFE_MAX_LAUNCHES); ++i) {
    const KfeLaunch& from = raw.launch[i];
    LaunchCounts& to = report.launches.emplace_back();
    const double scale = scale_of(from);
    to.kernel = text_of(from.kernel);
    to.grid = {from.grid.x, from.grid.y, from.grid.z};
    to.block = {from.block.x, from.block.y, from.block.z};
    to.shared_bytes = from.shared_bytes + from.static_bytes;
    to.bytes = from.bytes;
    to.times = from.times;
    if (!sane(from.barriers) || !sane(from.meetings) || !sane(from.warps)) continue;
    to.barriers = scale * from.barriers;
    to.meetings = scale * from.meetings;
    to.warps = scale * from.warps;
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(raw.codes, KFE_MAX_CODE); ++i) {
    const KfeCode& from = raw.code[i];
    if (from.launch >= report.launches.size() || !sane(from.issues) || !sane(from.lanes)) continue;
    const double scale = scale_of(raw.launch[from.launch]);
    report.launches[from.launch].code.push_back({from.offset, scale * from.issues, scale * from.lanes});
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(raw.uses, KFE_MAX_USES); ++i) {
    const KfeUse& from = raw.use[i];
    if (from.launch >= report.launches.size() || !sane(from.read_bytes) || !sane(from.written_bytes))
      continue;
    const double scale = scale_of(raw.launch[from.launch]);
    report.launches[from.launch].memory.push_back(
        {text_of(from.name), from.bytes, scale * from.read_bytes, scale * from.written_bytes});
  }
}

std::string thread_text(const FindingPlace& place) {
  auto index = [](const std::array<std::uint32_t, 3>& i) {
    return i[1] || i[2] ? fmt::format("({}, {}, {})", i[0], i[1], i[2]) : fmt::format("{}", i[0]);
  };
  return fmt::format("{}:{} (thread {} of block {})", place.file, place.line, index(place.thread),
                     index(place.block));
}

}  // namespace

std::size_t report_bytes() { return KFE_REPORT_BYTES; }

std::string_view name_of(FindingKind kind) {
  static constexpr std::string_view kNames[] = {"",
                                                "race",
                                                "out of bounds",
                                                "barriers in different branches",
                                                "barrier after an exit",
                                                "deadlock",
                                                "shuffle from an absent lane",
                                                "lanes in different functions",
                                                "more than a device has",
                                                "the kernel stopped itself",
                                                "shared memory that was never written"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string Finding::sentence() const {
  std::string out = fmt::format("{} in {}: {}", name_of(kind), kernel, text);
  for (std::size_t i = 0; i < places.size(); ++i)
    if (!places[i].file.empty()) out += (i ? " and " : ", ") + thread_text(places[i]);
  return out;
}

void ask_for_counts(std::span<std::byte> memory, std::uint64_t seed, bool partial) {
  const KfeAsked asked{KFE_ASKED_MAGIC, partial ? 1u : 0u, seed};
  if (memory.size() >= sizeof asked) std::memcpy(memory.data(), &asked, sizeof asked);
}

Result<Report> read_report(std::span<const std::byte> memory, const fs::path& library, SandboxTier tier) {
  if (memory.size() < sizeof(KfeReport)) return fail("the emulator's report is too short");
  auto raw = std::make_unique<KfeReport>();
  std::memcpy(raw.get(), memory.data(), sizeof(KfeReport));
  if (raw->magic != KFE_REPORT_MAGIC) return fail("the program left no report of the emulator");
  const std::size_t findings = std::min<std::size_t>(raw->findings, KFE_MAX_FINDINGS);
  const std::size_t traffics = std::min<std::size_t>(raw->traffics, KFE_MAX_TRAFFIC);
  std::set<std::uint64_t> offsets;
  for (std::size_t i = 0; i < findings; ++i)
    for (const KfePlace& place : raw->finding[i].places)
      if (place.offset) offsets.insert(instruction_of(place.offset));
  for (std::size_t i = 0; i < traffics; ++i) offsets.insert(instruction_of(raw->traffic[i].offset));
  KF_TRY(auto lines, look_up(offsets, library, tier));

  Report report;
  report.accesses = raw->accesses_checked;
  for (std::size_t i = 0; i < findings; ++i) {
    const KfeFinding& from = raw->finding[i];
    if (from.kind == 0 || from.kind >= KFE_KINDS) continue;
    Finding finding{
        static_cast<FindingKind>(from.kind), text_of(from.kernel), text_of(from.text), from.times, {}};
    for (const KfePlace& place : from.places) {
      FindingPlace to{text_of(place.file),
                      static_cast<int>(place.line & 0xFFFFFF),
                      place.is_write != 0,
                      {place.thread.x, place.thread.y, place.thread.z},
                      {place.block.x, place.block.y, place.block.z}};
      if (place.offset) {
        const SourceLine& line = lines[instruction_of(place.offset)];
        to.file = line.file;
        to.line = line.line;
      } else if (to.file.empty() && !finding.places.empty()) {
        continue;
      }
      finding.places.push_back(std::move(to));
    }
    report.findings.push_back(std::move(finding));
  }
  read_counts(*raw, report);
  // Compilers split and double accesses: one row for each line and way.
  for (std::size_t i = 0; i < traffics; ++i) {
    const KfeTraffic& from = raw->traffic[i];
    if (!sane(from.requests) || from.requests <= 0 || !sane(from.units) || !sane(from.lanes)) continue;
    const SourceLine& line = lines[instruction_of(from.offset)];
    Traffic row{.kernel = text_of(from.kernel),
                .file = line.file,
                .line = line.line,
                .shared = from.is_shared != 0,
                .write = from.is_write != 0,
                .atomic = from.is_atomic != 0,
                .bytes = from.size,
                .launch = from.launch};
    auto known = std::ranges::find_if(report.traffic, [&](const Traffic& t) {
      return t.kernel == row.kernel && t.file == row.file && t.line == row.line && t.shared == row.shared &&
             t.write == row.write && t.launch == row.launch;
    });
    if (known == report.traffic.end()) known = report.traffic.insert(known, row);
    const double scale = from.launch < report.launches.size() ? scale_of(raw->launch[from.launch]) : 1;
    const double requests = scale * from.requests, all = known->requests + requests;
    known->units = (known->units * known->requests + scale * from.units) / all;
    known->lanes = (known->lanes * known->requests + scale * from.lanes) / all;
    known->requests = all;
  }
  return report;
}

}  // namespace kforge::emulate
