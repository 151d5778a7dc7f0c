// For loops that are written for the vectoriser: no branches, no calls that stay calls. The loader picks the
// widest clone that the processor has. Such files are compiled by kforge_wide_loops (cmake/KForge.cmake),
// which contracts nothing, so that the width changes no bit of a result.
#pragma once

// Sanitizers do not get along with the loader's choice among clones.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define KF_WIDE __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define KF_WIDE
#endif
#define KF_INLINE inline __attribute__((always_inline))
