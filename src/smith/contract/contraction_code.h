// A contraction and its schedule become C++: one namespace that holds everything, nothing to link against.
//
//   namespace NAME {
//     struct Tensors { ... };                  pointers, in the order of Contraction::tensors
//     constexpr long kPreparedFloats, kScratchFloats;
//     void prepare(const Tensors&, float* prepared);                       packs params; absent where 0
//     floats void work(const Tensors&, const float* prepared, float* scratch);    called by every thread of a
//     team void run(const Tensors&, const float* prepared, float* scratch);     the same, with a team of its
//     own
//   }
// Buffers are 64-byte aligned. The program around it (another part's, or whole_program() below) allocates
// them.
#pragma once

#include <string>

#include "base/result.h"
#include "smith/contract/contraction_schedule.h"

namespace kforge::smith {

struct ContractionCode {
  std::string name;  // the namespace
  std::string definitions;
  long prepared_floats = 0;
  long scratch_floats = 0;
  std::string story;  // one or two sentences: what was chosen and why
};

// A copy of an operand b that is laid out for reading in place (a padded image), made at the start of a call.
struct Staging {
  long floats = 0;            // of one staged item, with slack for whole vectors at its end
  long items = 1;             // how many there are (images)
  long batches_per_item = 1;  // consecutive batch indices that read the same item (groups)
  // Defines kStagePieces and stage_item(t, item, first, last, staged): copies pieces [first, last) of one
  // item, so that threads can share the work.
  std::string function;
};

Result<ContractionCode> emit_contraction(const Contraction& contraction, const ContractionSchedule& schedule,
                                         const Staging* staging = nullptr);

// A complete kernel.cc around the namespaces: prepare, kernel_prepared, release for one code whose tensors
// are the task's arguments. `arguments` in C order; `params` names those that are fixed between calls.
std::string whole_program(const ContractionCode& code, const std::vector<Tensor>& arguments,
                          const std::vector<std::string>& params, const std::vector<Tensor>& tensors);

// A finish that stores the sums as they are into pointer[batch * batch_stride + row * row_stride + column].
Finish plain_store(std::string pointer, long batch_stride, long row_stride);

}  // namespace kforge::smith
