// What the scheduler tells whoever watches. The fast variant watches only for what cannot go on.
#pragma once

#include "worker.h"

namespace kfe::checks {

// Threads wait for each other: up to two places with the number of threads there.
void deadlock(const Thread* const (&at)[2], const uint32_t (&counts)[2]);
void trap(const char* what, const char* file, int line);
// More than a device has; ends the launch.
void limit(const char* what);

#ifdef KFE_CHECK
void launch_begins(const KfeProgram& program, const KfeStep& step, void* const* memory);
void call_begins(const KfeProgram& program, const void* asked);
int poison();                       // what the plan's own buffers hold before a call
bool skips_block(uint64_t number);  // of the launch that runs
void moved(uint64_t bytes);         // by a fill or a copy
void hand_over(void* report);
void launch_ends();
void block_begins(Worker& worker);
void block_ends(Worker& worker);
void barrier_passed(Worker& worker);
void lanes_met(Worker& worker, uint32_t first_thread, uint32_t lanes, uint32_t kind);
void fence(Worker& worker, bool device);  // or only of its own block
void copy_asked(const Copy& copy);
void copy_made(const Copy& copy, bool ends);
void barrier_diverged(const char* file, int line, const char* other_file, int other_line);
void barrier_left(Worker& worker, const char* file, int line);
void meeting_diverged(const char* what, const char* file, int line, const char* other_file, int other_line);
void absent_lane(Worker& worker, uint32_t lane, const char* file, int line);
#else
inline void launch_begins(const KfeProgram&, const KfeStep&, void* const*) {}
inline void call_begins(const KfeProgram&, const void*) {}
inline int poison() { return kPoison; }
inline bool skips_block(uint64_t) { return false; }
inline void moved(uint64_t) {}
inline void hand_over(void*) {}
inline void launch_ends() {}
inline void block_begins(Worker&) {}
inline void block_ends(Worker&) {}
inline void barrier_passed(Worker&) {}
inline void lanes_met(Worker&, uint32_t, uint32_t, uint32_t) {}
inline void copy_asked(const Copy&) {}
inline void copy_made(const Copy&, bool) {}
inline void fence(Worker&, bool) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void barrier_diverged(const char*, int, const char*, int) {}
inline void barrier_left(Worker&, const char*, int) {}
inline void meeting_diverged(const char*, const char*, int, const char*, int) {}
inline void absent_lane(Worker&, uint32_t, const char*, int) {}
#endif

}  // namespace kfe::checks
