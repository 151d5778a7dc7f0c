// What the checking variants found: plain rows in memory that the parent owns, the last argument of the
// program. The candidate cannot forge it: every access of its code is looked at before it is made, and this
// memory is not among what a kernel may touch. The parent reads it as hostile all the same
// (src/emulate/read_report.cc).
#pragma once

#include "kforge/device_api.h"

enum KfeFindingKind : kfe_u32 {
  KFE_NO_FINDING,
  KFE_RACE,              // places: this access, the other one
  KFE_OUT_OF_BOUNDS,     // place: the access
  KFE_BARRIER_DIVERGED,  // lines of two barriers at which threads of one block wait
  KFE_BARRIER_LEFT,      // a thread ended before the barrier that others wait at
  KFE_DEADLOCK,          // threads wait for each other
  KFE_LANE_ABSENT,       // a shuffle from a lane that has ended
  KFE_MEETING_DIVERGED,  // lanes meet in different exchanges, or outside of their own mask
  KFE_LIMIT,             // more shared memory or threads than a device has
  KFE_TRAP,              // the program stopped itself
  KFE_UNWRITTEN,         // reads shared memory that nobody has written
  KFE_KINDS
};

struct KfePlace {
  kfe_u64 offset;  // of the instruction in the library; 0: see file and line
  char file[56];   // where the runtime was told
  kfe_u32 line;
  kfe_u32 is_write;
  KfeIndex thread, block;
};

struct KfeFinding {
  kfe_u32 kind;
  kfe_u32 times;
  char kernel[64];
  char text[128];  // the memory's name, what is wrong
  KfePlace places[2];
};

// Accesses of one instruction, over the warps that were looked at. In the variant `count` each of them stands
// for the warps it was drawn from, so that the figures are those of the whole launch.
struct KfeTraffic {
  kfe_u64 offset;     // of the instruction
  kfe_u32 launch;     // row of KfeReport::launch
  kfe_u32 is_shared;  // bank passes, else sectors of 32 bytes
  kfe_u32 is_write, is_atomic;
  kfe_u32 size;  // bytes of one access
  char kernel[64];
  double requests, units, lanes;  // units: sectors or passes; lanes that took part, of 32 for each request
};

// Variant `count`: all launches of one kernel with one grid; or one fill or copy.
struct KfeLaunch {
  char kernel[64];  // "": a fill or a copy
  KfeIndex grid, block;
  kfe_u64 shared_bytes, static_bytes;  // of a block
  kfe_u64 bytes;                       // fill, copy
  kfe_u32 times, counted;              // all figures are of `counted` launches
  double barriers, meetings, warps;    // of all blocks; of all warps; how many warps that is
};

// Variant `count`: instructions between two places where the flow may go another way.
struct KfeCode {
  kfe_u64 offset;  // of the first
  kfe_u32 launch;
  double issues, lanes;  // by warps; by their lanes together
};

// Variant `count`: what the blocks of a launch touch of one memory, each sector once in a block.
struct KfeUse {
  kfe_u32 launch;
  char name[60];
  kfe_u64 bytes;  // of the memory
  double read_bytes, written_bytes;
};

enum {
  KFE_MAX_FINDINGS = 32,
  KFE_MAX_TRAFFIC = 512,
  KFE_MAX_LAUNCHES = 64,
  KFE_MAX_CODE = 4096,
  KFE_MAX_USES = 512
};

// What the parent asks of the variant `count`, at the beginning of the report's memory.
struct KfeAsked {
  kfe_u32 magic;    // KFE_ASKED_MAGIC; anything else: nothing is asked
  kfe_u32 partial;  // 1: only the blocks that are looked at run
  kfe_u64 seed;     // which blocks and warps are looked at
};

struct KfeReport {
  kfe_u32 magic, findings, traffics;
  kfe_u32 accesses_checked;  // saturates
  kfe_u32 launches, codes, uses;
  kfe_u32 overflowed;  // 1: there was more to count than there is room for
  KfeFinding finding[KFE_MAX_FINDINGS];
  KfeTraffic traffic[KFE_MAX_TRAFFIC];
  KfeLaunch launch[KFE_MAX_LAUNCHES];
  KfeCode code[KFE_MAX_CODE];
  KfeUse use[KFE_MAX_USES];
};

enum : kfe_u32 {
  KFE_REPORT_MAGIC = 0x4b464532,
  KFE_ASKED_MAGIC = 0x4b464641,
  KFE_REPORT_BYTES = sizeof(KfeReport)
};
