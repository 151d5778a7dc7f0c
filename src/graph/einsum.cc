#include "graph/einsum.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace kforge {
namespace {

constexpr char kFirstEllipsisLabel = '\x01';
constexpr std::int64_t kMostEllipsisAxes = 30;  // stays below the printable characters
constexpr std::string_view kEllipsis = "...";

bool has_ellipsis(const std::string& term) { return term.find(kEllipsis) != std::string::npos; }

// Axes of an input that its term does not name.
Result<std::int64_t> hidden_axes(const std::string& term, std::int64_t rank) {
  const bool dots = has_ellipsis(term);
  const std::int64_t hidden = rank - static_cast<std::int64_t>(term.size() - (dots ? kEllipsis.size() : 0));
  if (hidden < 0 || (!dots && hidden != 0) || hidden > kMostEllipsisAxes)
    return fail("the term \"{}\" does not fit an input with {} axes", term, rank);
  return hidden;
}

// The labels of a term whose ellipsis stands for the last `axes` of `most`.
Result<std::string> labels_of(const std::string& term, std::int64_t axes, std::int64_t most,
                              const std::string& equation) {
  std::string labels;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (term.compare(i, kEllipsis.size(), kEllipsis) == 0) {
      for (std::int64_t a = most - axes; a < most; ++a) labels += static_cast<char>(kFirstEllipsisLabel + a);
      i += kEllipsis.size() - 1;
    } else if (std::isalpha(static_cast<unsigned char>(term[i]))) {
      labels += term[i];
    } else {
      return fail("the equation \"{}\" has the character '{}'", equation, term[i]);
    }
  }
  return labels;
}

// The ellipsis, then labels that appear once, in the order of the alphabet.
std::string implied_output(const std::vector<std::string>& inputs) {
  std::map<char, int> uses;
  for (const std::string& labels : inputs)
    for (char label : labels) ++uses[label];
  std::string output;
  for (const auto& [label, count] : uses)
    if (count == 1 || label < ' ') output += label;
  return output;
}

}  // namespace

Result<EinsumEquation> read_einsum(std::string text, std::span<const std::int64_t> ranks) {
  std::erase(text, ' ');
  const auto arrow = text.find("->");
  const std::vector<std::string> terms = parts_of(text.substr(0, arrow), ',');
  if (terms.size() != ranks.size())
    return fail("the equation has {} terms for {} inputs", terms.size(), ranks.size());
  std::vector<std::int64_t> hidden;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    KF_TRY(std::int64_t axes, hidden_axes(terms[i], ranks[i]));
    hidden.push_back(axes);
  }
  const std::int64_t most = hidden.empty() ? 0 : *std::ranges::max_element(hidden);
  EinsumEquation equation;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    KF_TRY(std::string labels, labels_of(terms[i], hidden[i], most, text));
    equation.inputs.push_back(std::move(labels));
  }
  if (arrow == std::string::npos) {
    equation.output = implied_output(equation.inputs);
  } else {
    KF_TRY(equation.output, labels_of(text.substr(arrow + 2), most, most, text));
  }
  return equation;
}

std::map<char, std::int64_t> einsum_extents(const EinsumEquation& equation, std::span<const Shape> inputs) {
  std::map<char, std::int64_t> extents;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t d = 0; d < inputs[i].size(); ++d)
      extents[equation.inputs[i][d]] = std::max(extents[equation.inputs[i][d]], inputs[i][d]);
  return extents;
}

std::optional<std::vector<Dim>> einsum_dims(const std::string& text, std::span<const TensorType> inputs) {
  std::vector<std::int64_t> ranks;
  for (const TensorType& input : inputs) {
    if (!input.ranked) return std::nullopt;
    ranks.push_back(static_cast<std::int64_t>(input.dims.size()));
  }
  const auto equation = read_einsum(text, ranks);
  if (!equation) return std::nullopt;
  std::map<char, Dim> of_label;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t d = 0; d < inputs[i].dims.size(); ++d) {
      Dim& dim = of_label.try_emplace(equation->inputs[i][d], inputs[i].dims[d]).first->second;
      const bool stretches = dim.known() && dim.value == 1;
      // A number says more than a symbol that must be equal to it.
      if (stretches || (!dim.known() && inputs[i].dims[d].known() && inputs[i].dims[d].value != 1))
        dim = inputs[i].dims[d];
    }
  std::vector<Dim> dims;
  for (char label : equation->output) {
    const auto found = of_label.find(label);
    if (found == of_label.end()) return std::nullopt;
    dims.push_back(found->second);
  }
  return dims;
}

}  // namespace kforge
