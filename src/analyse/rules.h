// The rules of the built-in analyst: each looks at the facts and gives a recommendation when it applies. A
// rule never guesses a figure: what is not known is not used, and lowers its confidence.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyse/analyst.h"

namespace kforge {

// The facts in the form rules ask for them.
class Known {
 public:
  explicit Known(const AnalysisInput& input) : input_(&input) {}

  std::optional<double> fact(std::string_view name) const;
  double fact_or(std::string_view name, double otherwise) const { return fact(name).value_or(otherwise); }
  const AnalysisInput& input() const { return *input_; }
  const BoundTask* task() const { return input_->setting ? input_->setting->task : nullptr; }
  bool on_device() const;  // the program is for a platform of kind device
  bool machine_has(std::string_view feature) const;
  int vector_bits() const;  // widest the machine executes; 0: not known
  std::optional<double> roofline_fraction() const { return fact("roofline_fraction"); }
  // "memory" also when a cache level is the bound; "compute"; "" when not known.
  std::string bound() const;
  // All sources of the program, for the few things only they show.
  std::string source() const;
  // How often a text stands in them: "omp parallel", ...
  int count(std::string_view text) const;
  // Samples show the threads at work side by side, yet they had little processor time: other processes had
  // it. Figures about threads and waiting then say nothing about the program.
  bool busy_machine() const;

 private:
  const AnalysisInput* input_;
};

using Rule = std::optional<Advice> (*)(const Known&);

// By what they look at, a file each.
std::vector<Rule> bound_rules();   // where it stands on the roofline
std::vector<Rule> code_rules();    // the hot loop as compiled
std::vector<Rule> thread_rules();  // threads and what is paid per call
std::vector<Rule> device_rules();  // profiles of accelerators

// What a change can bring when `share` of the time gets `factor` times faster.
double amdahl(double share, double factor);

}  // namespace kforge
