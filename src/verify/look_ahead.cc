#include "verify/look_ahead.h"

#include <sys/prctl.h>

#include <atomic>
#include <cstring>
#include <thread>

namespace kforge {
namespace {

constexpr std::chrono::microseconds kBetweenLooks{5};

}  // namespace

const BoundArgument* first_output(const BoundTask& task, std::size_t& index) {
  for (index = 0; index < task.arguments.size(); ++index)
    if (task.arguments[index].role == Role::kOutput && !task.arguments[index].shape.empty())
      return &task.arguments[index];
  return nullptr;
}

bool ends_untouched(const BoundArgument& argument, std::uint64_t seed, std::span<const std::byte> data) {
  std::size_t size = size_of(argument.dtype);
  // The pattern repeats every eight bytes from the start, so whole words at both ends can be compared.
  std::size_t tail = (data.size() - size) / 8 * 8;
  return count_poison(argument.dtype, seed, data.first(size)) == 1 &&
         count_poison(argument.dtype, seed, data.subspan(tail)) ==
             static_cast<std::int64_t>((data.size() - tail) / size);
}

bool can_probe_look_ahead(const BoundTask& task) {
  std::size_t index;
  return first_output(task, index) != nullptr;
}

Step<LookAheadProbe> probe_look_ahead(const BoundTask& task, const InputMemory& inputs,
                                      ProgramProcess& process, const RoundPlan& plan, std::uint32_t batch,
                                      std::uint64_t seed, std::chrono::milliseconds limit) {
  KF_CHECK(batch >= 3 && batch <= plan.order.size(), "a batch of {}", batch);
  std::size_t argument_index = 0;
  const BoundArgument* argument = first_output(task, argument_index);
  KF_CHECK(argument, "no output to watch");
  for (std::uint32_t slot : plan.order) {
    fill_inputs(task, inputs, plan.choices[slot], slot);
    reset_outputs(task, process.outputs(), plan.choices[slot], slot);
  }
  std::uint32_t first = plan.order[0], second_last = plan.order[batch - 2], last = plan.order[batch - 1];
  LookAheadProbe probe{false, last, {InputKind::kOwn, seed}};
  // At first nearly the values it will have: a program that keeps a sample of its inputs beside its results,
  // to see whether they are still good, sees no difference.
  InputChoice nearly = probe.choice;
  nearly.variation = {VariedPart::kFew, seed + 1};
  fill_inputs(task, inputs, nearly, last);

  std::atomic<bool> over = false;
  std::jthread watcher([&] {
    auto untouched = [&](std::uint32_t slot) {
      return ends_untouched(*argument, plan.choices[slot].seed,
                            process.outputs().tensor(argument_index, slot));
    };
    // Asleep between looks: a thread that wakes is let in at once, also where the program's own threads
    // keep every processor busy; one that yields would wait for the end of their turn.
    ::prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
    while (!over && untouched(first)) std::this_thread::sleep_for(kBetweenLooks);
    if (over) return;
    fill_inputs(task, inputs, probe.choice, last);
    probe.conclusive = untouched(second_last);
  });
  auto time = process.call({plan.order.begin(), plan.order.begin() + batch}, limit);
  over = true;
  watcher.join();
  if (!time) return std::unexpected(time.error());
  if (!time->has_value()) return candidate_failed(time->error());
  return probe;
}

}  // namespace kforge
