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

// Accesses of one instruction, over the warps that were looked at.
struct KfeTraffic {
  kfe_u64 offset;     // of the instruction
  kfe_u32 is_shared;  // bank passes, else sectors of 32 bytes
  kfe_u32 is_write;
  kfe_u32 size;  // bytes of one access
  char kernel[64];
  kfe_u64 requests, units, lanes;  // units: sectors or passes; lanes that took part, of 32 for each request
};

enum { KFE_MAX_FINDINGS = 32, KFE_MAX_TRAFFIC = 256 };

struct KfeReport {
  kfe_u32 magic, findings, traffics;
  kfe_u32 accesses_checked;  // saturates
  KfeFinding finding[KFE_MAX_FINDINGS];
  KfeTraffic traffic[KFE_MAX_TRAFFIC];
};

enum : kfe_u32 { KFE_REPORT_MAGIC = 0x4b464531, KFE_REPORT_BYTES = sizeof(KfeReport) };
