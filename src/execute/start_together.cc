#include "execute/start_together.h"

#include <future>

namespace kforge {

std::vector<Step<std::unique_ptr<ProgramProcess>>> start_together(const std::vector<ProgramSpec>& specs,
                                                                  const BoundTask& task,
                                                                  const InputMemory& inputs,
                                                                  std::chrono::milliseconds load_limit) {
  std::vector<std::future<Step<std::unique_ptr<ProgramProcess>>>> starting;
  for (const ProgramSpec& spec : specs)
    starting.push_back(std::async(
        std::launch::async, [&, spec] { return ProgramProcess::start(spec, task, inputs, load_limit); }));
  std::vector<Step<std::unique_ptr<ProgramProcess>>> started;
  for (auto& one : starting) started.push_back(one.get());
  return started;
}

}  // namespace kforge
