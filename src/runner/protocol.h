// What the trusted parent and a program say to each other. The program is any one that computes a task
// on request: the runner with a candidate in it (sandboxed), or a baseline (onednn, onnxruntime, torch). All
// speak this, so that every gate and every clock treats them alike.
//
// Channel: one AF_UNIX SOCK_SEQPACKET socket, inherited as file descriptor 3. Every message is one packet: a
// Message header, then `payload` bytes. All fields little-endian, natural alignment. Python speaks it too
// (python/kforge_child.py), so keep the structs plain.
//
//   parent                                 program
//                                          kReady      (after start-up; value = protocol version)
//   kSetup  + table rows, + 3 fds     ->               maps the arenas
//                                          kDone       (value = 0) or kError + text
//   kLoad                             ->               loads the candidate (dlopen; static initialisers run
//   here)
//                                          kDone       (value = flags, see below) or kError + text
//   kPrepare                          ->               calls prepare(params), again after release when
//   repeated
//                                          kDone       (nanoseconds)
//   kCall   + slot numbers (uint32)   ->               runs the task once for each slot listed, in that order
//                                          kDone       (nanoseconds by the program's own clock: a claim)
//   kExit                             ->               release(state), exit code 0
//
// A program whose kernels run on a device has tensors there. It says so (KFORGE_HAS_TRANSFERS), and around
// each call, outside the clock:
//
//   kUpload + slot numbers            ->               copies the slots' tensors to the device, between guard
//                                                      zones, and poisons the program's own buffers there
//                                          kDone
//   kCall   + slot numbers            ->
//                                          kDone       (value = nanoseconds by the device's own clock)
//   kDownload + slot numbers          ->               copies outputs back
//                                          kDone
//
// Where it can show what its device memory holds around and besides the outputs (KFORGE_SHOWS_MEMORY), the
// parent hands it a window, memory that the parent owns, and asks for it after each prepare (no slots) and
// each download. The parent compares (device/shown_check.h): guard zones with what it drew, inputs with what
// it gave, what prepare made with what it was.
//
//   kWindow + 1 or 2 fds, value       ->               maps the window (value: its bytes); its first
//                                                      KFORGE_GUARD_BYTES are what guard zones shall hold.
//                                                      The second file is memory for the buffers of a device
//                                                      that is this processor: the same for all programs
//                                                      that are timed in turns
//                                          kDone
//   kShow   + slot numbers, value     ->               fills the window: KforgeShown, its rows, bytes.
//                                                      Value 0: from the beginning, 1: what follows
//                                          kDone       (value = 1: there is more)
//
// A program that is started anew for each run (kforge-command) takes part in it as one with transfers:
// kUpload writes its inputs, kCall runs it (value = processor time), kDownload reads its outputs (value =
// nanoseconds of a call by the program's own account). What goes wrong with it is kFailed + text, value =
// KforgeFailedKind.
//
// Instead of kDone a program may die; if it can, it first sends kFault with what happened.
// The parent trusts none of it: time is the parent's, values are read from the arenas, and the program is
// stopped the instant it says kDone.
//
// Arenas: three shared-memory files (fds of kSetup, in this order): params (sealed against writing), inputs
// (sealed against writing), outputs (outputs and inouts, writable). Each tensor instance occupies whole pages
// of its arena. The data starts 64-byte aligned and as late as it can: data rounded up to 64 bytes ends
// exactly where the last page ends, so that the guard page follows at once; what lies before the data in its
// first page and the tail after it is canary, checked by the parent. A program maps each instance between
// two PROT_NONE pages; slot s of argument a lies at row.offset + s * row.stride (params have one slot, stride
// 0).
#ifndef KFORGE_RUNNER_PROTOCOL_H_
#define KFORGE_RUNNER_PROTOCOL_H_

#include <stdint.h>

#define KFORGE_PROTOCOL_VERSION 1
#define KFORGE_CONTROL_FD 3
#define KFORGE_MAX_ARGUMENTS 1024
#define KFORGE_MAX_SLOTS 1024

enum KforgeMessageType {
  KFORGE_READY = 1,
  KFORGE_SETUP = 2,
  KFORGE_LOAD = 3,
  KFORGE_PREPARE = 4,
  KFORGE_CALL = 5,
  KFORGE_EXIT = 6,
  KFORGE_ECHO = 7,  // answered at once: how long does a message take?
  KFORGE_UPLOAD = 8,
  KFORGE_DOWNLOAD = 9,
  KFORGE_DONE = 10,
  KFORGE_ERROR = 11,  // payload: text; the program cannot serve (missing symbol, unsupported operator)
  KFORGE_FAULT = 12,  // payload: KforgeFault
  KFORGE_WINDOW = 13,
  KFORGE_FAILED = 14,  // payload: text; the program that was started for a run failed in it
  KFORGE_SHOW = 15,
};

enum KforgeFailedKind {
  KFORGE_FAILED_CRASH = 1,      // how it ended, and in the lines behind it what it said last
  KFORGE_FAILED_SHAPE = 2,      // its outputs are missing or of another shape
  KFORGE_FAILED_LEFT_OVER = 3,  // processes of it went on running
};

enum KforgeArena { KFORGE_ARENA_PARAMS = 0, KFORGE_ARENA_INPUTS = 1, KFORGE_ARENA_OUTPUTS = 2 };

// Flags in the value of the kDone that answers kLoad.
enum KforgeLoadFlags { KFORGE_HAS_PREPARE = 1, KFORGE_HAS_TRANSFERS = 2, KFORGE_SHOWS_MEMORY = 4 };

#define KFORGE_GUARD_BYTES 4096  // before and after each memory of a device
#define KFORGE_MAX_SHOWN_ROWS 1024

enum KforgeShownPart { KFORGE_SHOWN_BEFORE = 1, KFORGE_SHOWN_AFTER = 2, KFORGE_SHOWN_VALUES = 3 };

// One stretch of device memory in the window.
typedef struct KforgeShownRow {
  uint32_t part;      // KforgeShownPart
  int32_t tensor;     // argument of the task, or -1: a buffer of the program's own
  uint32_t slot;      // of a tensor that is no param; of a buffer a number of its own
  uint32_t prepared;  // of a buffer: what prepare made, and calls may only read
  uint64_t first;     // of values: the first byte shown; the memory's stretches come in order
  uint64_t bytes;
  uint64_t at;    // in the window
  char name[64];  // of the buffer
} KforgeShownRow;

typedef struct KforgeShown {
  uint64_t rows;
  KforgeShownRow row[KFORGE_MAX_SHOWN_ROWS];
} KforgeShown;

typedef struct KforgeMessage {
  uint32_t type;
  uint32_t payload;  // bytes that follow in the same packet
  uint64_t value;
  uint64_t nanoseconds;
} KforgeMessage;

// kSetup's payload: uint32 argument count, uint32 slot count, then one row per argument in C order.
typedef struct KforgeArgumentRow {
  uint32_t arena;
  uint32_t is_param;     // goes to prepare() where there is one
  uint64_t offset;       // of the first page of slot 0 in its arena; a multiple of the page size
  uint64_t stride;       // between slots; a multiple of the page size
  uint64_t pages_bytes;  // whole pages of one instance
  uint64_t data_offset;  // of the first element from the first page
  uint64_t data_bytes;   // of the tensor itself, without the canary tail
} KforgeArgumentRow;

// The largest packet: a set-up with all its rows. Nothing else comes near it.
#define KFORGE_MAX_PACKET (sizeof(KforgeMessage) + 8 + KFORGE_MAX_ARGUMENTS * sizeof(KforgeArgumentRow))

enum KforgeFaultPlace {
  KFORGE_FAULT_UNKNOWN = 0,
  KFORGE_FAULT_IN_TENSOR = 1,      // a write to a read-only tensor
  KFORGE_FAULT_BEFORE_TENSOR = 2,  // guard page before it
  KFORGE_FAULT_AFTER_TENSOR = 3,   // guard page after it
  KFORGE_FAULT_NULL = 4,           // first 64 KiB of the address space
  KFORGE_FAULT_STACK = 5,          // near the stack pointer: overflow
  KFORGE_FAULT_AFTER_BLOCK = 6,    // guard page behind a block of the guarded heap
  KFORGE_FAULT_TRAP = 7,           // an instruction that is there to fail: __builtin_trap()
};

typedef struct KforgeFault {
  int32_t signal;    // SIGSYS: `syscall` says which call the sandbox refused
  int32_t code;      // si_code
  uint64_t address;  // si_addr
  int32_t place;     // KforgeFaultPlace
  int32_t argument;  // index of the tensor, or -1
  int32_t syscall;
  int32_t stage;  // the message type being served (KFORGE_LOAD, KFORGE_CALL, ...)
  uint32_t slot;  // of the call under way
  uint32_t frame_count;
  uint64_t frames[8];  // return addresses relative to the candidate's load address, 0 where outside it
} KforgeFault;

#endif  // KFORGE_RUNNER_PROTOCOL_H_
