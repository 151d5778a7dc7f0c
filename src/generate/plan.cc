#include "generate/plan.h"

namespace kforge {

std::string_view name_of(Pass pass) { return pass == Pass::kFunctional ? "functional" : "optimization"; }

}  // namespace kforge
