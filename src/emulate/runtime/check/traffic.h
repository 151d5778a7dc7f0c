// How the lanes of a warp touch memory together: sectors of 32 bytes for each request of global memory,
// passes over the banks for each of shared memory, lanes that take part. Some warps of each launch are looked
// at.
#pragma once

#include <stdint.h>

#include "../worker.h"

namespace kfe::check {

void traffic_begins(Worker& worker);  // of a block
// `address`: from the start of the memory it lies in.
void traffic_access(Worker& worker, uint32_t place, uintptr_t address, uint32_t size, bool write, bool atomic,
                    bool shared);
void traffic_ends(Worker& worker);  // of a block, or of the part between two barriers

}  // namespace kfe::check
