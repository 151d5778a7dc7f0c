// The smith as a generation agent: the analytic design first (or what won on this family before), then the
// neighbouring design that fits the analyst's advice, most promising first. Pure but for what it remembers
// here.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "generate/generator.h"
#include "smith/smith.h"

namespace kforge {

smith::Problem problem_of(const BoundTask& task, const Machine& machine, int threads,
                          std::string_view precision);

class SmithAgent final : public Generator {
 public:
  explicit SmithAgent(smith::Problem problem) : problem_(std::move(problem)) {}

  std::string name() const override { return "smith"; }
  std::string family() const { return smith::family(problem_); }
  // What won on this family before: the first guess.
  void set_first_guess(std::string schedule) { first_guess_ = std::move(schedule); }
  // The schedule an attempt was made with (a resumed run tells what earlier attempts were).
  void remember(int attempt, std::string schedule) { schedules_[attempt] = std::move(schedule); }

  // NoProgram when every neighbour of the parent was tried. An operator it cannot write is an Error with the
  // remedy.
  Result<Generation> generate(const Plan& plan, const GenerationContext& context,
                              const ReplyWatch& watch) override;

 private:
  Result<Generation> first();
  Result<Generation> next(const Plan& plan);
  bool tried(std::string_view schedule) const;

  smith::Problem problem_;
  std::string first_guess_;
  bool compared_ = false;  // the remembered design with the analytic one
  std::map<int, std::string> schedules_;
  std::map<int, std::vector<smith::Move>> neighbours_;  // by parent
};

inline constexpr std::string_view kNoNeighbours = "every neighbouring design was tried";

}  // namespace kforge
