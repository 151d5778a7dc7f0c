// What rewritten device code calls of the emulator's runtime (src/emulate/runtime): indices, shared memory,
// barriers and exchanges between the lanes of a warp. Everything else of CUDA and MSL is written with these,
// in headers. These names are the only ones a candidate's object may leave undefined besides mathematics
// (object_symbols.cc), so a function added here is a door opened.
#pragma once

typedef __UINT16_TYPE__ kfe_u16;
typedef __INT32_TYPE__ kfe_i32;
typedef __UINT32_TYPE__ kfe_u32;
typedef __INT64_TYPE__ kfe_i64;
typedef __UINT64_TYPE__ kfe_u64;

enum { KFE_LANES = 32, KFE_VALUE_BYTES = 16 };

struct KfeIndex {
  kfe_u32 x, y, z;
};

// A shared variable: one for each declaration and template instance. The runtime gives it a place in the
// arena of the block when a launch reaches it first.
struct KfeSite {
  kfe_u32 offset;  // 0: no place yet
  kfe_u32 bytes, alignment, element;
  const char* name;
  const char* file;
  kfe_i32 line;
};

// What the lanes of a warp brought to an exchange.
struct KfeLanes {
  kfe_u32 arrived;  // lanes that did
  alignas(16) unsigned char value[KFE_LANES][KFE_VALUE_BYTES];
};

// What meets in an exchange must be of one kind.
enum KfeMeeting { KFE_SYNC, KFE_VOTE, KFE_SHUFFLE, KFE_REDUCE, KFE_MATCH, KFE_MATRIX };
enum KfeVote { KFE_COUNT, KFE_AND, KFE_OR };

// An argument of a kernel, as the plan gives it.
union KfeArgument {
  void* pointer;
  kfe_i64 integer;
  float real;
};

extern "C" {
// Of the thread that runs now. One processor thread runs a whole block, so plain loads are enough.
extern __thread KfeIndex kfe_thread_index __attribute__((tls_model("initial-exec")));
extern __thread KfeIndex kfe_block_index __attribute__((tls_model("initial-exec")));
extern __thread KfeIndex kfe_block_size __attribute__((tls_model("initial-exec")));  // of this block
extern __thread KfeIndex kfe_grid_size __attribute__((tls_model("initial-exec")));   // in blocks
extern __thread KfeIndex kfe_full_block
    __attribute__((tls_model("initial-exec")));  // of blocks inside the grid
extern __thread KfeIndex kfe_grid_threads __attribute__((tls_model("initial-exec")));
extern __thread kfe_u32 kfe_thread_number __attribute__((tls_model("initial-exec")));  // in the block
extern __thread char* kfe_shared_arena __attribute__((tls_model("initial-exec")));
extern __thread char* kfe_dynamic_shared __attribute__((tls_model("initial-exec")));
extern __thread kfe_i32 kfe_patience
    __attribute__((tls_model("initial-exec")));  // atomics until the next yield

kfe_u32 kfe_place(KfeSite* site);
// All threads of the block that have not ended.
void kfe_barrier(const char* file, int line);
int kfe_barrier_vote(int vote, int predicate, const char* file, int line);
// The lanes of `mask` that have not ended meet, each with a value of at most KFE_VALUE_BYTES. Mask 0: those
// that get here ("active" lanes). The answer is good until this thread calls the runtime again.
const KfeLanes* kfe_meet(kfe_u32 mask, int kind, const void* value, kfe_u32 bytes, const char* file,
                         int line);
kfe_u32 kfe_live_lanes(void);
// A shuffle took the value of a lane that had none.
void kfe_absent_lane(kfe_u32 lane, const char* file, int line);
void kfe_yield(void);
void kfe_fence(void);        // for all threads of the launch
void kfe_fence_block(void);  // for those of the block
// Copies that the thread must wait for before anybody may look at them.
void kfe_copy_async(void* to, const void* from, kfe_u32 bytes, kfe_u32 given);
void kfe_copy_commit(void);
void kfe_copy_wait(kfe_u32 left);
void kfe_copy_wait_all(void);
kfe_u64 kfe_clock(void);
[[noreturn]] void kfe_trap(const char* what, const char* file, int line);
}

// Functions of the headers that stand for an instruction or two of a device: in the variant that counts they
// are not part of what calls them, so that what they do here is not counted as the candidate's instructions.
#ifdef KFE_COUNTING
#define KFE_APART __attribute__((noinline))
#else
#define KFE_APART inline
#endif

#define KFE_WHERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
