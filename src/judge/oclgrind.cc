#include "judge/oclgrind.h"

#include <algorithm>
#include <charconv>

#include "base/files.h"
#include "base/text.h"
#include "device/device_package.h"
#include "generate/quote.h"
#include "judge/program.h"
#include "judge/watched_call.h"

namespace kforge {
namespace {

constexpr Gate kOclgrindGates[] = {Gate::kRaces, Gate::kBounds, Gate::kBarriers};
constexpr std::size_t kMostFindings = 32;
constexpr std::string_view kLibraries[] = {"/usr/lib/oclgrind/liboclgrind-rt-icd.so",
                                           "/usr/lib/x86_64-linux-gnu/oclgrind/liboclgrind-rt-icd.so",
                                           "/usr/local/lib/oclgrind/liboclgrind-rt-icd.so"};

std::optional<Gate> gate_of_line(std::string_view line) {
  if (line.find("data race at") != line.npos) return Gate::kRaces;
  if (line.starts_with("Invalid read") || line.starts_with("Invalid write") || line.starts_with("Index ("))
    return Gate::kBounds;
  if (line.starts_with("Work-group divergence")) return Gate::kBarriers;
  return std::nullopt;
}

// "	At line 4 (column 24) of kernel.cl:" as "kernel.cl:4".
std::string place_of(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with("At line ")) return "";
  line.remove_prefix(8);
  int number = 0;
  std::from_chars(line.data(), line.data() + line.size(), number);
  const std::size_t of = line.find(" of ");
  std::string_view file = of == line.npos ? "" : line.substr(of + 4);
  if (file.ends_with(':')) file.remove_suffix(1);
  return fmt::format("{}:{}", single_line(file.substr(file.rfind('/') + 1), 60), number);
}

// Without the address, which says nothing to people.
std::string what_of(std::string_view line) {
  std::string text = single_line(line.substr(0, line.find(" address ")), 120);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

// The program without what another driver compiled of it.
Result<void> leave_source_only(const fs::path& artefact, const fs::path& to) {
  KF_TRY(std::string bytes, read_file(artefact, std::size_t{64} << 20));
  KF_TRY(DevicePackage package, package_from(bytes));
  package.binaries.clear();
  return write_scratch_file(to, to_bytes(package));
}

}  // namespace

std::vector<OclgrindFinding> parse_oclgrind(std::string_view log) {
  std::vector<OclgrindFinding> findings;
  std::optional<OclgrindFinding> open;
  int places = 0;
  auto close = [&] {
    const bool known = open && std::ranges::any_of(findings, [&](const OclgrindFinding& other) {
                         return other.gate == open->gate && other.sentence == open->sentence;
                       });
    if (open && !known && findings.size() < kMostFindings) findings.push_back(std::move(*open));
    open.reset();
  };
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(log.size(), line.size() + 1));
    if (const auto gate = gate_of_line(line)) {
      close();
      open = OclgrindFinding{*gate, what_of(line)};
      places = 0;
    } else if (open && trimmed(line).starts_with("Kernel:")) {
      open->sentence += " in " + single_line(trimmed(trimmed(line).substr(7)), 60);
    } else if (const std::string place = place_of(line); open && !place.empty()) {
      open->sentence += (places++ ? " and " : ", ") + place;
    }
  }
  close();
  return findings;
}

Result<void> judge_by_oclgrind(Workspace& workspace, const Candidate& candidate, const BoundTask& asked,
                               Stopwatch& watch, Verdict& verdict) {
  const JudgeSetup& setup = workspace.setup();
  auto skip = [&](const std::string& why) {
    for (const Gate gate : kOclgrindGates) verdict.skip(gate, why);
    return Result<void>{};
  };
  std::error_code error;
  const auto library =
      std::ranges::find_if(kLibraries, [&](std::string_view path) { return fs::exists(path, error); });
  if (library == std::end(kLibraries)) return skip("oclgrind is not installed (apt-get install oclgrind)");
  KF_TRY(auto task, watched_shapes(setup, candidate, asked));
  if (!task)
    return skip("the shapes are too large for oclgrind, and the program does not claim smaller ones");
  workspace.progress().stage("simulating");
  auto timer = watch.measure("oclgrind");
  KF_TRY(auto built, build_candidate(candidate, setup.platform, *task, setup.machine, build_options(setup)));
  if (!built) return verdict.fail(built.error()), Result<void>{};
  KF_TRY(JudgeContext context, workspace.context(*task, true));
  KF_TRY(TempDir folder, TempDir::create());
  Build source = *built;
  source.artefact = folder.path() / "program";
  KF_TRY_VOID(leave_source_only(built->artefact, source.artefact));
  // The loader of OpenCL's drivers takes this one in place of all others.
  KF_TRY(auto watched, watched_call(workspace, source, *task, context,
                                    {{"OCL_ICD_VENDORS", std::string(*library)},
                                     {"OCLGRIND_DATA_RACES", "1"},
                                     {"OCLGRIND_UNIFORM_WRITES", "1"},
                                     {"OCLGRIND_MAX_ERRORS", std::to_string(kMostFindings)},
                                     {"KFORGE_DEVICE_UNGUARDED", "1"}}));
  // Not from standard output, where kernels print.
  const std::vector<OclgrindFinding> findings = parse_oclgrind(watched.said);
  for (const Gate gate : kOclgrindGates) {
    const auto found = std::ranges::find(findings, gate, &OclgrindFinding::gate);
    if (found != findings.end()) return verdict.fail(WrongValue{gate, found->sentence}), Result<void>{};
  }
  // It knows OpenCL 1.2 and part of 2.0; what it cannot run the device can.
  if (watched.failure) return skip(fmt::format("oclgrind did not run it: {}", reason_text(*watched.failure)));
  for (const Gate gate : kOclgrindGates)
    verdict.add(passed(gate, fmt::format("nothing by oclgrind on shape set {}", task->shape_set)));
  return {};
}

}  // namespace kforge
