// A timed call remembered by a secret sample of its outputs, so that it can be compared with the same call
// made again in a fresh process without keeping gigabytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "execute/tensor_memory.h"
#include "oracle/expected.h"
#include "verify/policy.h"

namespace kforge {

// Which elements are looked at: the same for all calls of one judging, unknown to the candidate.
class SamplePositions {
 public:
  SamplePositions(const BoundTask& task, std::uint64_t seed);

  struct Output {
    std::size_t argument;
    DType dtype;
    std::vector<std::int64_t> elements;  // sorted; all of them when there are few
  };
  const std::vector<Output>& outputs() const { return outputs_; }

 private:
  std::vector<Output> outputs_;
};

using Fingerprint = std::vector<double>;  // values at the positions, output after output

Fingerprint fingerprint_of(const SamplePositions& positions, const TensorMemory& outputs, std::uint32_t slot);

// What differs between the timed call and its repetition beyond twice the policy, in words; nothing when they
// agree. `expected` gives the yardstick's error on inputs of the same kind.
std::optional<std::string> fingerprints_differ(const SamplePositions& positions, const BoundTask& task,
                                               const Fingerprint& timed, const Fingerprint& again,
                                               const PrecisionPolicy& policy, const Expected& expected);

// Indices of ties, and of values closer than rounding, may differ from run to run. So a few differences are
// no failure: where there are any, the truth decides.
bool indices_differ(const SamplePositions& positions, const BoundTask& task, const Fingerprint& timed,
                    const Fingerprint& again, const Expected& expected);
// In words, an index of the timed call that is not as good as the true one. `truth` is of the same values.
std::optional<std::string> wrong_index(const SamplePositions& positions, const BoundTask& task,
                                       const Fingerprint& timed, const PrecisionPolicy& policy,
                                       const Expected& truth);

}  // namespace kforge
