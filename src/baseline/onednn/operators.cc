#include "baseline/onednn/operators.h"

namespace kforge::onednn {

Emit find_operator(const std::string& op) {
  for (const OperatorTable* table : {&elementwise_operators(), &product_operators(), &convolution_operators(),
                                     &pooling_operators(), &row_operators(), &reduction_operators(),
                                     &layout_operators(), &index_operators(), &recurrent_operators()})
    if (auto found = table->find(op); found != table->end()) return found->second;
  return nullptr;
}

}  // namespace kforge::onednn
