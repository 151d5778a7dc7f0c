// Stages that are matrix products or convolutions leave the program and become kernels of their own kind;
// what is done to their results element by element goes with them as the epilogue. In the program a line
// stays that calls the kernel inside of the parallel region.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "smith/contract/convolution.h"
#include "smith/graph/program.h"

namespace kforge::smith {

struct MatchedContraction {
  std::string tensor;  // the product's own name: the key of its schedule
  std::string label;   // for people
  std::optional<Contraction> product;
  std::optional<Convolution> convolution;
  std::vector<std::string> arguments;           // C++ expressions for its tensors, in each call
  std::vector<std::string> prepare_arguments;   // the same in prepare(): nullptr for what is not there yet
  std::shared_ptr<std::set<std::string>> used;  // headers of kernels/ its epilogue needs, once emitted

  std::string prepared_buffer() const { return tensor + "_packed"; }
  std::string scratch_buffer() const { return tensor + "_scratch"; }
};

struct MatchedContractions {
  Program rest;
  std::vector<MatchedContraction> parts;
};

// `fixed`: tensors that prepare() has (params, and what is computed from them).
MatchedContractions match_contractions(Program program, const std::set<std::string>& fixed);

ContractionSchedule first_schedule(const MatchedContraction& matched, const Machine& machine, int threads,
                                   std::string_view precision);
std::vector<ScheduleMove> neighbours(const ContractionSchedule& schedule, const MatchedContraction& matched,
                                     const Machine& machine, std::string_view precision);
Result<ContractionCode> emit_matched(const MatchedContraction& matched, const ContractionSchedule& schedule);

}  // namespace kforge::smith
