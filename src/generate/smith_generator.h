// The built-in generation agent: the smith behind the same interface as a model. The analytic design first
// (or what won on this family before), then the neighbouring design that fits the analyst's advice, most
// promising first. Pure but for what it remembers here.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generate/generator.h"
#include "platform/platform.h"
#include "smith/device/device_design.h"
#include "smith/smith.h"

namespace kforge {

smith::Problem problem_of(const BoundTask& task, const Machine& machine, int threads,
                          std::string_view precision);

// The language that the smith writes for a device platform; nothing on others.
std::optional<smith::DeviceLanguage> device_language(const Platform& platform);
// The smith's program for a device, with its plan.
Candidate candidate_of(smith::DeviceDesign design);

class SmithGenerator final : public Generator {
 public:
  explicit SmithGenerator(smith::Problem problem, std::optional<smith::DeviceLanguage> language = {})
      : problem_(std::move(problem)), language_(language) {}

  std::string name() const override { return "smith"; }
  GeneratorTraits traits() const override { return {.raced = true, .local = true}; }
  std::string family() const override { return smith::family(problem_); }
  void start_from(std::string schedule) override { first_guess_ = std::move(schedule); }
  void recall(const Attempt& attempt) override;
  std::vector<std::string> kinds_of_change(const Attempt& attempt) override;

  // kExhausted when every neighbour was tried. An operator it cannot write is an Error with the remedy.
  Result<Generation> generate(const Plan& plan, const AgentSetting& context,
                              const ReplyWatch& watch) override;

 private:
  Result<Generation> first();
  // On devices one choice is changed at a time (smith/device/device_choices.h).
  Result<Generation> first_for_device();
  Result<Generation> next_for_device(const Plan& plan);
  std::optional<Generation> device_neighbour_of(int parent, std::string_view wanted);
  Result<Generation> next(const Plan& plan);
  Result<std::vector<smith::Move>*> neighbours_of(int parent);
  Result<std::optional<Generation>> neighbour_of(int parent, const Plan& plan);
  bool tried(std::string_view schedule) const;

  smith::Problem problem_;
  std::optional<smith::DeviceLanguage> language_;
  std::string first_guess_;
  bool compared_ = false;                               // the remembered design with the analytic one
  std::mutex mutex_;                                    // of what follows
  std::map<int, std::string> schedules_;                // by attempt
  std::vector<std::string> sources_;                    // written for a device
  std::map<int, std::vector<smith::Move>> neighbours_;  // by parent, those not tried yet
};

}  // namespace kforge
