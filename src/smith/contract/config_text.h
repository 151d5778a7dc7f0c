// The struct of constants and small functions that an emitted contraction consists of
// (kernels/contraction/config.h says what they mean).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smith/contract/contraction_code.h"
#include "smith/contract/panels.h"

namespace kforge::smith {

// Does the text use that identifier?
bool mentions(const std::string& text, const std::string& name);

class ConfigText {
 public:
  ConfigText(const std::string& name, const std::vector<Tensor>& tensors);

  using Constant = std::pair<std::string_view, long>;
  // "static constexpr long kM = 64, kN = 128;  // why"
  void constants(std::initializer_list<Constant> list, std::string_view why = "");
  // The same, but only those that differ from 0: the default.
  void offsets(std::initializer_list<Constant> list, std::string_view why = "");
  void flag(std::string_view name, bool value);  // nothing where false: the default
  void line(const std::string& text);            // any member

  // The register tile, and panels of its size.
  void tile(const ContractionSchedule& schedule, const RowPanels& rows);
  // Packing of an operand, and where its elements lie. `which`: 'a' or 'b'.
  void operand(const Operand& operand, char which, Packing packing, bool elements,
               const std::vector<Tensor>& tensors);
  void staged_image(const Staging& staging);
  void tap_rows(const TapRows& rows);  // and that those in the padding are left out
  // x(t) and its like: a pointer by another name.
  void pointer(std::string_view name, const std::string& tensor);
  void finish(const Contraction& contraction, const ContractionSchedule& schedule);

  // The struct, and `using NAME = KERNEL<NAME_config>`. `comment`: lines that begin with "//".
  std::string text(const std::string& comment, std::string_view kernel) const;

  std::set<std::string> headers;

 private:
  std::string name_, body_;
};

}  // namespace kforge::smith
