#include "smith/contract/amx_source.h"

namespace kforge::smith {

Result<ContractionCode> emit_amx_contraction(const Contraction&, const ContractionSchedule& schedule) {
  return fail("arithmetic {} is not written yet", name_of(schedule.arithmetic));
}

}  // namespace kforge::smith
