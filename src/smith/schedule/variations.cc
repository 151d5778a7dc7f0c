// Schedules one step away from a given one: what the search tries next.
#include <fmt/format.h>

#include "smith/schedule/schedule.h"

namespace kforge::smith {

using Where = TensorInfo::Where;

std::vector<Variation> variations(const Nest& nest, const std::vector<Step>& steps, const Machine& machine,
                                  int threads) {
  std::vector<Variation> found;
  auto offer = [&](std::string name, std::string tag, std::string why, std::vector<Step> changed) {
    if (apply_all(nest, changed))
      found.push_back({std::move(name), std::move(tag), std::move(why), std::move(changed)});
  };
  // Streaming stores, on or off.
  for (const auto& [tensor, info] : nest.tensors) {
    if (info.where != Where::kOutput) continue;
    std::vector<Step> changed;
    bool had = false;
    for (const Step& step : steps) {
      const bool this_one = step.name == "stream" && step.loops[0] == tensor;
      had |= this_one;
      if (!this_one) changed.push_back(step);
    }
    if (had) {
      offer("no stream " + tensor, "streaming_stores", "the result may still fit a cache that is read next",
            changed);
    } else if (static_cast<std::size_t>(element_count(info.shape)) * size_of(info.dtype) > (1 << 20)) {
      changed.push_back({"stream", {tensor}, 0});
      offer("stream " + tensor, "streaming_stores", "saves reading the lines that are overwritten", changed);
    }
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    auto with = [&](std::int64_t number) {
      std::vector<Step> changed = steps;
      changed[i].number = number;
      return changed;
    };
    if (step.name == "vectorize")
      for (const std::int64_t n : {step.number * 2, step.number / 2})
        if (n >= 1 && n <= 8 && n != step.number)
          offer(fmt::format("{} vectors along {}", n, step.loops[0]), "unroll",
                "more independent work at once, or fewer registers", with(n));
    if (step.name == "split" && step.number >= 64)
      for (const std::int64_t n : {step.number * 2, step.number / 2})
        offer(fmt::format("tiles of {} along {}", n, step.loops[0]), "tile",
              "longer runs along memory, or a smaller footprint", with(n));
    if (step.name == "parallelize") {
      std::vector<Step> changed = steps;
      changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
      offer("one thread for " + step.loops[0], "parallelize",
            "starting threads may cost more than they bring", changed);
    }
  }
  (void)machine;
  (void)threads;
  return found;
}

}  // namespace kforge::smith
