// smith_design TASK [SHAPES] [--loops] [--language cpp|opencl|glsl|cuda|msl [--plan]]: the smith's first
// design, for developers.
#include <fmt/core.h>

#include <cstring>

#include "smith_problem.h"

int main(int argc, char** argv) {
  using namespace kforge;
  if (argc < 2) return 2;
  bool loops = false, plan = false;
  std::string shapes = "bench", language = "cpp";
  for (int i = 2; i < argc; ++i)
    if (std::strcmp(argv[i], "--loops") == 0)
      loops = true;
    else if (std::strcmp(argv[i], "--plan") == 0)
      plan = true;
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
  const smith::Problem problem = smith_problem(*bound, *machine, machine->threads());
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
  auto design = smith::first_design(problem);
  if (!design) return fmt::print(stderr, "{}\n", design.error().text()), 1;
  fmt::print("{}", design->source);
}
