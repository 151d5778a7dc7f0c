// Who keeps the time must be there when a program reports.
#pragma once

namespace kforge {

// From now on the calling thread gets short slices of processor time and, in exchange, runs soon after it
// wakes, also where others want its processor. Linux has heard such wishes since 6.12; without effect
// elsewhere.
void ask_for_prompt_wakeups();

}  // namespace kforge
