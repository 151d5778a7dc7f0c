#include "verify/policy.h"

namespace kforge {

std::span<const PrecisionPolicy> all_policies() {
  static constexpr PrecisionPolicy kPolicies[] = {
      {"fp32", 5e-6, "what a straightforward fp32 program reaches; the default"},
      {"high", 1e-4, "three-product bf16 splits, as PyTorch's \"high\""},
      {"bf16", 2e-2, "bf16 products with fp32 sums"},
      {"fp16", 2e-2, "fp16 products with fp32 sums"},
  };
  return kPolicies;
}

std::optional<PrecisionPolicy> policy_from_name(std::string_view name) {
  for (const PrecisionPolicy& policy : all_policies())
    if (policy.name == name) return policy;
  return std::nullopt;
}

}  // namespace kforge
