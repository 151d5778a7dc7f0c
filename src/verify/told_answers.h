// What a process has answered so far, to say of a wrong output that it is the answer to another call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/failure.h"
#include "execute/tensor_memory.h"
#include "task/variation.h"

namespace kforge {

// A copy of everything the program wrote in a slot.
std::vector<std::byte> snapshot(const BoundTask& task, const TensorMemory& outputs, std::uint32_t slot);

// Words for an output that an earlier call gave on other values ("inputs", "params"), before `reason`.
std::string answer_kept(std::string_view values, VariedPart part, const std::string& reason);

class ToldAnswers {
 public:
  // `part`: how the inputs of that call differ from those judged next.
  void add(const BoundTask& task, const TensorMemory& outputs, std::uint32_t slot, VariedPart part);
  // The same failure, with a word where the output is one that was given before.
  Failure explain(Failure failure, const BoundTask& task, const TensorMemory& outputs,
                  std::uint32_t slot) const;

 private:
  std::map<std::size_t, VariedPart> parts_;  // by the hash of all outputs
  int calls_ = 0;
};

}  // namespace kforge
