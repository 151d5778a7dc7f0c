#include "fiber.h"

#include <stdlib.h>
#include <sys/mman.h>

namespace kfe {
namespace {

constexpr size_t kPage = 16 << 10;  // the largest of any machine this runs on
constexpr int kAtOnce = 32;

}  // namespace

#if defined(__x86_64__)
// Callee-saved registers go on the stack that is left; those of the other are taken from it.
asm(R"(
.text
.hidden kfe_switch
.globl kfe_switch
.type kfe_switch, @function
kfe_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size kfe_switch, .-kfe_switch
)");
constexpr size_t kReturnWord = 6;  // its place above the stack pointer
constexpr size_t kFrameWords = 8;  // leaves the stack as a call would: 8 below a multiple of 16
#elif defined(__aarch64__)
asm(R"(
.text
.hidden kfe_switch
.globl kfe_switch
.type kfe_switch, %function
kfe_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x2, sp
  str x2, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size kfe_switch, .-kfe_switch
)");
constexpr size_t kReturnWord = 11;
constexpr size_t kFrameWords = 20;
#else
#error "the emulator's runtime has no switch between stacks for this processor"
#endif

struct Chunk {
  void* memory;
  Chunk* next;
  Fiber fiber[kAtOnce];
};

void FiberPool::release() {
  while (Chunk* chunk = chunks_) {
    chunks_ = chunk->next;
    munmap(chunk->memory, (kStackBytes + kPage) * kAtOnce);
    free(chunk);
  }
  free_ = nullptr;
}

void FiberPool::grow() {
  const size_t each = kStackBytes + kPage;
  void* memory = mmap(nullptr, each * kAtOnce, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  auto* chunk = static_cast<Chunk*>(calloc(1, sizeof(Chunk)));
  if (memory == MAP_FAILED || !chunk) abort();
  chunk->memory = memory;
  chunk->next = chunks_;
  chunks_ = chunk;
  Fiber* fibers = chunk->fiber;
  for (int i = 0; i < kAtOnce; ++i) {
    char* low = static_cast<char*>(memory) + each * static_cast<size_t>(i) + kPage;
    if (mmap(low, kStackBytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
      abort();
    fibers[i].low = low;
    fibers[i].high = low + kStackBytes;
    give_back(&fibers[i]);
  }
}

Fiber* FiberPool::take(void (*main)()) {
  if (!free_) grow();
  Fiber* fiber = free_;
  free_ = fiber->next;
  void** frame = reinterpret_cast<void**>(fiber->high) - kFrameWords;
  for (size_t i = 0; i < kFrameWords; ++i) frame[i] = nullptr;
  frame[kReturnWord] = reinterpret_cast<void*>(main);
  fiber->stack_pointer = static_cast<void*>(frame);
  return fiber;
}

}  // namespace kfe
