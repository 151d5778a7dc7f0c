// What a compiler calls under -fsanitize=thread and -fsanitize=bounds, defined here instead of by its
// libraries.
#include <string.h>

#include "access.h"
#include "code.h"

using kfe::check::access;

#define KFE_PC reinterpret_cast<uintptr_t>(__builtin_return_address(0))
#define KFE_ACCESS(bytes)                                                                                   \
  void __tsan_read##bytes(void* p) { access(reinterpret_cast<uintptr_t>(p), bytes, false, false, KFE_PC); } \
  void __tsan_write##bytes(void* p) { access(reinterpret_cast<uintptr_t>(p), bytes, true, false, KFE_PC); } \
  void __tsan_unaligned_read##bytes(void* p) {                                                              \
    access(reinterpret_cast<uintptr_t>(p), bytes, false, false, KFE_PC);                                    \
  }                                                                                                         \
  void __tsan_unaligned_write##bytes(void* p) {                                                             \
    access(reinterpret_cast<uintptr_t>(p), bytes, true, false, KFE_PC);                                     \
  }                                                                                                         \
  void __tsan_read_write##bytes(void* p) {                                                                  \
    access(reinterpret_cast<uintptr_t>(p), bytes, false, false, KFE_PC);                                    \
    access(reinterpret_cast<uintptr_t>(p), bytes, true, false, KFE_PC);                                     \
  }                                                                                                         \
  void __tsan_unaligned_read_write##bytes(void* p) {                                                        \
    access(reinterpret_cast<uintptr_t>(p), bytes, false, false, KFE_PC);                                    \
    access(reinterpret_cast<uintptr_t>(p), bytes, true, false, KFE_PC);                                     \
  }

#define KFE_RMW(T, bits, name, builtin)                                    \
  T __tsan_atomic##bits##_##name(volatile T* p, T v, int) {                \
    access(reinterpret_cast<uintptr_t>(p), sizeof(T), true, true, KFE_PC); \
    return builtin(p, v, __ATOMIC_SEQ_CST);                                \
  }
#define KFE_ATOMICS(T, bits)                                                                       \
  T __tsan_atomic##bits##_load(const volatile T* p, int) {                                         \
    access(reinterpret_cast<uintptr_t>(p), sizeof(T), false, true, KFE_PC);                        \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                   \
  }                                                                                                \
  void __tsan_atomic##bits##_store(volatile T* p, T v, int) {                                      \
    access(reinterpret_cast<uintptr_t>(p), sizeof(T), true, true, KFE_PC);                         \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                \
  KFE_RMW(T, bits, exchange, __atomic_exchange_n)                                                  \
  KFE_RMW(T, bits, fetch_add, __atomic_fetch_add)                                                  \
  KFE_RMW(T, bits, fetch_sub, __atomic_fetch_sub)                                                  \
  KFE_RMW(T, bits, fetch_and, __atomic_fetch_and)                                                  \
  KFE_RMW(T, bits, fetch_or, __atomic_fetch_or)                                                    \
  KFE_RMW(T, bits, fetch_xor, __atomic_fetch_xor)                                                  \
  KFE_RMW(T, bits, fetch_nand, __atomic_fetch_nand)                                                \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T expected, T v, int, int) {         \
    access(reinterpret_cast<uintptr_t>(p), sizeof(T), true, true, KFE_PC);                         \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
    return expected;                                                                               \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* expected, T v, int, int) {   \
    access(reinterpret_cast<uintptr_t>(p), sizeof(T), true, true, KFE_PC);                         \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* p, T* expected, T v, int, int) {     \
    access(reinterpret_cast<uintptr_t>(p), sizeof(T), true, true, KFE_PC);                         \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }

extern "C" {

KFE_ACCESS(1)
KFE_ACCESS(2)
KFE_ACCESS(4)
KFE_ACCESS(8)
KFE_ACCESS(16)
KFE_ATOMICS(uint8_t, 8)
KFE_ATOMICS(uint16_t, 16)
KFE_ATOMICS(uint32_t, 32)
KFE_ATOMICS(uint64_t, 64)

void __sanitizer_cov_trace_pc() { kfe::check::code_ran(KFE_PC); }

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_read_range(void* p, unsigned long bytes) {
  access(reinterpret_cast<uintptr_t>(p), bytes, false, false, KFE_PC);
}
void __tsan_write_range(void* p, unsigned long bytes) {
  access(reinterpret_cast<uintptr_t>(p), bytes, true, false, KFE_PC);
}

void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
  access(reinterpret_cast<uintptr_t>(from), bytes, false, false, KFE_PC);
  access(reinterpret_cast<uintptr_t>(to), bytes, true, false, KFE_PC);
  return memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, unsigned long bytes) {
  access(reinterpret_cast<uintptr_t>(from), bytes, false, false, KFE_PC);
  access(reinterpret_cast<uintptr_t>(to), bytes, true, false, KFE_PC);
  return memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, unsigned long bytes) {
  access(reinterpret_cast<uintptr_t>(to), bytes, true, false, KFE_PC);
  return memset(to, value, bytes);
}

struct KfeUbsanPlace {
  const char* file;
  uint32_t line, column;
};
void __ubsan_handle_out_of_bounds(const KfeUbsanPlace* place, int64_t index) {
  kfe::check::bad_index(place->file, place->line, index);
}
void __ubsan_handle_out_of_bounds_abort(const KfeUbsanPlace* place, int64_t index) {
  kfe::check::bad_index(place->file, place->line, index);
}

}  // extern "C"
