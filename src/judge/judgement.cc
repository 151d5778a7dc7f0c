#include "judge/judgement.h"

namespace kforge {

const Failure* Judgement::failure() const {
  if (cases.empty() || !cases.back().verdict.failed()) return nullptr;
  return &*cases.back().verdict.failure;
}

std::vector<Interval> Judgement::over_incumbents() const {
  std::vector<Interval> over;
  if (cases.empty() || !passed()) return over;
  for (std::size_t which = 0; which < cases.front().incumbents.size(); ++which) {
    GeometricMean mean;
    for (const CaseJudgement& one : cases) mean.add(one.incumbents[which].speedup, one.shape->weight);
    over.push_back(mean.get());
  }
  return over;
}

}  // namespace kforge
