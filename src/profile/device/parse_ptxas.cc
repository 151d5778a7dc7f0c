// What NVIDIA's assembler says of a program: registers, shared memory, spills, and from them how many warps
// of each kernel the architectures hold.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "generate/device_program.h"
#include "generate/quote.h"
#include "profile/device/occupancy.h"
#include "profile/device/ptxas.h"
#include "profile/parsers.h"

namespace kforge {
namespace {

// What a block of each kernel takes, by its first launch.
std::map<std::string, BlockNeeds> block_needs(const ProfileInput& input, const PtxasKernels& kernels) {
  std::map<std::string, BlockNeeds> needs;
  auto program = read_device_program(*input.candidate, *input.task, {});
  if (!program || !*program) return needs;
  for (const auto* steps : {&(*program)->plan.prepare, &(*program)->plan.run})
    for (const PlanStep& step : *steps)
      if (const auto* launch = std::get_if<PlanLaunch>(&step))
        if (const auto known = kernels.find(launch->kernel); known != kernels.end())
          needs.try_emplace(
              launch->kernel,
              BlockNeeds{double(launch->block[0]) * launch->block[1] * launch->block[2],
                         known->second.registers,
                         known->second.shared_bytes + static_cast<double>(launch->shared_bytes)});
  return needs;
}

}  // namespace

bool parse_ptxas_log(const Said& said, Findings& findings) {
  const ProfileInput& input = *findings.input;
  const auto& model = input.platform->model;
  auto absent = [&](std::string_view why) {
    findings.profile.absent.push_back(fmt::format("{}: {}", said.profiler, why));
    return false;
  };
  if (!input.task || !input.candidate) return absent("there is no program to compile");
  const std::string architecture =
      model && model->chip && !model->chip->architecture.empty() ? model->chip->architecture : "sm_90";
  auto kernels = ptxas_facts(*input.candidate, *input.task, architecture, input.tier);
  if (!kernels) return absent(single_line(kernels.error().message, 200));
  double registers = 0, spills = 0;
  std::string text;
  for (const auto& [name, one] : *kernels) {
    registers = std::max(registers, one.registers);
    spills = std::max(spills, one.spill_stores + one.spill_loads);
    text += fmt::format(
        "{}: {:.0f} registers, {:.0f} bytes of static shared memory, {:.0f} bytes of stack, {:.0f} + {:.0f} "
        "bytes of spills\n",
        single_line(name, 80), one.registers, one.shared_bytes, one.stack_bytes, one.spill_stores,
        one.spill_loads);
  }
  for (const auto& [kernel, needs] : block_needs(input, *kernels)) {
    text += fmt::format("{} in blocks of {:.0f}:", single_line(kernel, 80), needs.threads);
    for (const Chip& chip : known_architectures()) {
      const Occupancy found = occupancy_of(needs, chip);
      text += fmt::format(" {} {:.0f} %", chip.name, 100 * found.fraction);
    }
    text += " occupancy\n";
  }
  findings.fact("device_registers", registers, "", said.profiler);
  findings.fact("device_spill_bytes", spills, "byte", said.profiler);
  findings.profile.texts.push_back({"ptxas, for " + architecture, text, said.profiler});
  return true;
}

}  // namespace kforge
