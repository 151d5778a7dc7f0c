#include "suite/ablation.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/nearest.h"

namespace kforge {
namespace {

struct AblationRow {
  const char* name;
  const char* blocks;  // of --without
  bool prompts_only;   // the built-in generator never sees it
};
constexpr AblationRow kAblations[] = {
    {"reference", "reference", true},
    {"example", "example", true},
    // Advice is made from the profile: without the one there is none of the other.
    {"profile", "profile,assembly,advice", false},
};

}  // namespace

Result<std::vector<SuiteVariant>> ablation_variants(const std::vector<std::string>& names, bool models,
                                                    bool reference_given) {
  std::vector<SuiteVariant> variants(1);
  std::vector<std::string> known;
  for (const AblationRow& row : kAblations) known.emplace_back(row.name);
  const bool reference = std::ranges::count(names, "reference") > 0;
  if (reference && !reference_given) variants.front().arguments = {"--reference", "auto"};
  for (const std::string& name : names) {
    auto row = std::ranges::find(kAblations, name, &AblationRow::name);
    if (row == std::end(kAblations))
      return fail_with_remedy(fmt::format("known ones: {}", fmt::join(known, ", ")),
                              fmt::format("there is no ablation '{}'{}", name, did_you_mean(name, known)));
    if (row->prompts_only && !models)
      return fail_with_remedy(
          "name a model with --generator, or ablate `profile` alone: without it the built-in generator gets "
          "no advice",
          fmt::format("leaving out the {} changes nothing for the built-in generator: it reads no prompt",
                      name));
    SuiteVariant variant{"without " + name, {"--without", row->blocks}};
    // What is not left out is as in the first one.
    if (name != "reference")
      variant.arguments.insert(variant.arguments.end(), variants.front().arguments.begin(),
                               variants.front().arguments.end());
    variants.push_back(std::move(variant));
  }
  return variants;
}

}  // namespace kforge
