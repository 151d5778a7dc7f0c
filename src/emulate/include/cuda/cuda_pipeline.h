// Asynchronous copies as C functions.
#pragma once

#include "cuda_runtime.h"

inline void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0) {
  kfe_copy_async(to, from, static_cast<unsigned>(bytes), static_cast<unsigned>(bytes - zeros));
}
inline void __pipeline_commit() { kfe_copy_commit(); }
inline void __pipeline_wait_prior(size_t left) { kfe_copy_wait(static_cast<unsigned>(left)); }
