// The heap of kforge-runner-guarded: every block ends where an inaccessible page begins, so that a candidate
// that writes past the end of its own memory is caught at the instruction that does it. The ordinary runner
// is the same program without this file; a block here costs two system calls, so nothing is ever timed on
// this heap.
//
// A block: a mapping of its own, [ header ... data | guard page ], data as late as its alignment allows.
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// What glibc's own heap is called besides malloc and free.
extern "C" {
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* block);
}

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kAlignment = 16;  // what malloc promises
constexpr uint64_t kMark = 0x6b666f7267654865;
constexpr long kMostGuarded =
    16'000;  // live blocks; each takes two of the mappings a process may have (65,530)

// Directly before the data.
struct Header {
  char* mapping;
  size_t mapped;  // bytes, the guard page included
  size_t bytes;   // asked for
  uint64_t mark;  // tells guarded blocks from those of glibc's heap
};

long guarded_blocks = 0;

size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

Header* header_of(void* block) { return static_cast<Header*>(block) - 1; }
bool is_guarded(void* block) { return header_of(block)->mark == kMark; }

void* guarded_block(size_t alignment, size_t bytes) {
  const size_t data = round_up(bytes ? bytes : 1, kAlignment);
  const size_t room = round_up(data + alignment + sizeof(Header), kPage);
  if (room < bytes) return nullptr;
  void* mapping =
      mmap(nullptr, room + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  char* const base = static_cast<char*>(mapping);
  char* const guard = base + room;
  mprotect(guard, kPage, PROT_NONE);
  char* const block = guard - data - reinterpret_cast<uintptr_t>(guard - data) % alignment;
  *header_of(block) = {base, room + kPage, bytes, kMark};
  return block;
}

void* allocate(size_t alignment, size_t bytes) {
  if (alignment < kAlignment) alignment = kAlignment;
  void* block = nullptr;
  if (bytes < SIZE_MAX / 2 && alignment < SIZE_MAX / 4) {
    if (__atomic_add_fetch(&guarded_blocks, 1, __ATOMIC_RELAXED) <= kMostGuarded) {
      block = guarded_block(alignment, bytes);
    }
    if (!block) {
      __atomic_sub_fetch(&guarded_blocks, 1, __ATOMIC_RELAXED);
      block = __libc_memalign(alignment, bytes + sizeof(Header) + alignment);
      // Room before the data that is no header: is_guarded() reads there.
      if (block) {
        char* data = static_cast<char*>(block) + round_up(sizeof(Header), alignment);
        *header_of(data) = {static_cast<char*>(block), 0, bytes, 0};
        block = data;
      }
    }
  }
  if (!block) errno = ENOMEM;
  return block;
}

}  // namespace

extern "C" {

void* malloc(size_t bytes) { return allocate(kAlignment, bytes); }

void free(void* block) {
  if (!block) return;
  const int error = errno;
  Header* const header = header_of(block);
  if (is_guarded(block)) {
    munmap(header->mapping, header->mapped);
    __atomic_sub_fetch(&guarded_blocks, 1, __ATOMIC_RELAXED);
  } else {
    __libc_free(header->mapping);
  }
  errno = error;
}

void* calloc(size_t count, size_t bytes) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  void* block = allocate(kAlignment, all);
  if (block && !is_guarded(block)) memset(block, 0, all);  // fresh mappings are zero
  return block;
}

void* realloc(void* block, size_t bytes) {
  if (!block) return malloc(bytes);
  void* moved = malloc(bytes);
  if (!moved) return nullptr;
  const size_t old = header_of(block)->bytes;
  memcpy(moved, block, old < bytes ? old : bytes);
  free(block);
  return moved;
}

void* reallocarray(void* block, size_t count, size_t bytes) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(block, all);
}

void* memalign(size_t alignment, size_t bytes) { return allocate(alignment, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) { return allocate(alignment, bytes); }
void* valloc(size_t bytes) { return allocate(kPage, bytes); }
void* pvalloc(size_t bytes) { return allocate(kPage, round_up(bytes, kPage)); }

int posix_memalign(void** block, size_t alignment, size_t bytes) {
  if (alignment % sizeof(void*) || (alignment & (alignment - 1)) || !alignment) return EINVAL;
  *block = allocate(alignment, bytes);
  return *block ? 0 : ENOMEM;
}

size_t malloc_usable_size(void* block) { return block ? header_of(block)->bytes : 0; }

}  // extern "C"
