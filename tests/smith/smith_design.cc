// smith_design TASK [SHAPES] [--loops] [--dump PASS] [--times] [--moves] [--move NAME]... [--without
// FEATURE]...
// [--language cpp|opencl|glsl|cuda|msl [--plan]]: the smith's first design, for developers. --loops: its loop
// nests; --dump: the program after a pass ("lower", "match_contractions"; an unknown name lists them);
// --times: what each pass took; --moves: what a search may change; --move: the design after such a step;
// --without: for a machine that lacks something ("avx512f").
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "graph/join.h"
#include "smith/pipeline.h"
#include "smith_problem.h"

namespace kforge {
namespace {

int print_passes(const smith::Problem& problem, const std::string& dump_after, bool times) {
  std::string dump;
  std::vector<smith::PassTime> taken;
  auto done =
      smith::run_passes(problem, {.check = true, .dump_after = dump_after, .dump = &dump, .times = &taken});
  if (!done) return fmt::print(stderr, "{}\n", done.error().text()), 1;
  if (times)
    for (const smith::PassTime& pass : taken)
      fmt::print("{:<20} {:8.3f} ms\n", pass.name, pass.seconds * 1e3);
  if (!dump_after.empty() && dump.empty()) {
    fmt::print(stderr, "there is no pass '{}'; passes: lower", dump_after);
    for (const smith::Pass& pass : smith::passes()) fmt::print(stderr, " {}", pass.name);
    return fmt::print(stderr, "\n"), 2;
  }
  fmt::print("{}", dump);
  return 0;
}

// The first design after the steps of a search that are named; nothing, and a message, where one does not
// exist.
std::optional<smith::Design> moved_design(const smith::Problem& problem,
                                          const std::vector<std::string>& names) {
  auto design = smith::first_design(problem);
  for (const std::string& name : names) {
    if (!design) break;
    const auto moves = smith::moves(problem, *design);
    const auto found = std::ranges::find(moves, name, &smith::Move::name);
    if (found == moves.end())
      return fmt::print(stderr, "there is no move '{}'; --moves lists them\n", name), std::nullopt;
    design = smith::design_from(problem, found->schedule);
  }
  if (!design) return fmt::print(stderr, "{}\n", design.error().text()), std::nullopt;
  return std::move(*design);
}

}  // namespace
}  // namespace kforge

int main(int argc, char** argv) {
  using namespace kforge;
  if (argc < 2) return 2;
  bool loops = false, plan = false, times = false, list_moves = false;
  std::vector<std::string> moves, missing;
  std::string shapes = "bench", language = "cpp", dump_after;
  for (int i = 2; i < argc; ++i)
    if (std::strcmp(argv[i], "--loops") == 0)
      loops = true;
    else if (std::strcmp(argv[i], "--plan") == 0)
      plan = true;
    else if (std::strcmp(argv[i], "--times") == 0)
      times = true;
    else if (std::strcmp(argv[i], "--moves") == 0)
      list_moves = true;
    else if (std::strcmp(argv[i], "--move") == 0 && i + 1 < argc)
      moves.emplace_back(argv[++i]);
    else if (std::strcmp(argv[i], "--without") == 0 && i + 1 < argc)
      missing.emplace_back(argv[++i]);
    else if (std::strcmp(argv[i], "--dump") == 0 && i + 1 < argc)
      dump_after = argv[++i];
    else if (std::strcmp(argv[i], "--language") == 0 && i + 1 < argc)
      language = argv[++i];
    else
      shapes = argv[i];
  auto task = load_task(argv[1]);
  if (!task) return fmt::print(stderr, "{}\n", task.error().text()), 1;
  auto bound = bind_task(*task, shapes);
  if (!bound) return fmt::print(stderr, "{}\n", bound.error().text()), 1;
  auto machine = describe_machine();
  if (!machine) return fmt::print(stderr, "{}\n", machine.error().text()), 1;
  for (const std::string& feature : missing) machine->features.erase(feature);
  smith::Problem problem = smith_problem(*bound, *machine, machine->threads());
  problem.graph = join_operators(problem.graph);  // as the generator does
  if (times || !dump_after.empty()) return print_passes(problem, dump_after, times);
  if (loops) {
    auto text = smith::print_loops(problem);
    if (!text) return fmt::print(stderr, "{}\n", text.error().text()), 1;
    fmt::print("{}", *text);
    return 0;
  }
  for (const smith::DeviceLanguage device : smith::kDeviceLanguages) {
    if (smith::name_of(device) != language) continue;
    auto design = smith::device_design(problem, device);
    if (!design) return fmt::print(stderr, "{}\n", design.error().text()), 1;
    fmt::print("{}", plan ? design->plan : design->source);
    return 0;
  }
  if (language != "cpp") return fmt::print(stderr, "there is no language '{}'\n", language), 2;
  const auto design = moved_design(problem, moves);
  if (!design) return 1;
  if (list_moves)
    for (const smith::Move& move : smith::moves(problem, *design))
      fmt::print("{}: {}\n", move.name, move.why);
  else
    fmt::print("{}", design->source);
}
