#include "verify/told_answers.h"

#include <functional>

#include <fmt/format.h>

namespace kforge {
namespace {

std::size_t hash_of(const BoundTask& task, const TensorMemory& outputs, std::uint32_t slot) {
  const std::vector<std::byte> bytes = snapshot(task, outputs, slot);
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

std::string answer_kept(std::string_view values, VariedPart part, const std::string& reason) {
  return fmt::format(
      "the output equals the answer to an earlier call, whose {} differed {}: answers may not be kept from "
      "call to call; {}",
      values, words_of(part), reason);
}

std::vector<std::byte> snapshot(const BoundTask& task, const TensorMemory& outputs, std::uint32_t slot) {
  std::vector<std::byte> copy;
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    if (task.arguments[a].role != Role::kOutput && task.arguments[a].role != Role::kInout) continue;
    auto data = outputs.tensor(a, slot);
    copy.insert(copy.end(), data.begin(), data.end());
  }
  return copy;
}

void ToldAnswers::add(const BoundTask& task, const TensorMemory& outputs, std::uint32_t slot,
                      VariedPart part) {
  ++calls_;
  parts_.insert_or_assign(hash_of(task, outputs, slot), part);
}

Failure ToldAnswers::explain(Failure failure, const BoundTask& task, const TensorMemory& outputs,
                             std::uint32_t slot) const {
  auto* wrong = std::get_if<WrongValue>(&failure);
  if (!wrong || wrong->gate == Gate::kMemory) return failure;
  auto found = parts_.find(hash_of(task, outputs, slot));
  if (found == parts_.end()) return failure;
  if (parts_.size() == 1 && calls_ > 1) {
    wrong->reason = fmt::format("the output is the same whatever the inputs are; {}", wrong->reason);
  } else {
    wrong->reason = answer_kept("inputs", found->second, wrong->reason);
  }
  return failure;
}

}  // namespace kforge
