// Functions of a simdgroup (32 threads here), of a quadgroup, and barriers. Threads that are active take
// part: those that get there before nothing else can run.
#pragma once

#include "metal_math_shim.h"

namespace kfe {

inline unsigned lane() { return kfe_thread_number % KFE_LANES; }

template <class T>
KFE_APART T taken(const KfeLanes* lanes, unsigned source, const char* file, int line) {
  T value;
  if (__builtin_expect(source >= KFE_LANES || !(lanes->arrived >> source & 1), 0)) {
    kfe_absent_lane(source, file, line);
    __builtin_memset(static_cast<void*>(&value), 0xFF, sizeof value);
    return value;
  }
  __builtin_memcpy(static_cast<void*>(&value), lanes->value[source], sizeof value);
  return value;
}

// `mask` 0: the active threads.
template <class T>
inline const KfeLanes* brought(unsigned mask, int kind, const T& value, const char* file, int line) {
  static_assert(sizeof(T) <= KFE_VALUE_BYTES, "a lane exchanges at most 16 bytes at a time");
  return kfe_meet(mask, kind, &value, sizeof value, file, line);
}

// Combined over the lanes of `group` that arrived, in order; `before`: only those below this one.
template <class T, class Combine>
KFE_APART T combined(T value, unsigned group, T start, bool below, bool with_self, Combine combine,
                     const char* file, int line) {
  const KfeLanes* lanes = brought(0, KFE_REDUCE, value, file, line);
  T all = start;
  for (unsigned left = lanes->arrived & group; left; left &= left - 1) {
    const unsigned one = static_cast<unsigned>(__builtin_ctz(left));
    if (below && (one > lane() || (one == lane() && !with_self))) break;
    T other;
    __builtin_memcpy(static_cast<void*>(&other), lanes->value[one], sizeof other);
    all = combine(all, other);
  }
  return all;
}
inline unsigned whole_group() { return ~0u; }
inline unsigned quad_group() { return 15u << (lane() / 4 * 4); }

}  // namespace kfe

namespace metal {

enum class mem_flags {
  mem_none = 0,
  mem_device = 1,
  mem_threadgroup = 2,
  mem_texture = 4,
  mem_threadgroup_imageblock = 8
};
inline constexpr mem_flags operator|(mem_flags a, mem_flags b) {
  return static_cast<mem_flags>(static_cast<int>(a) | static_cast<int>(b));
}
enum memory_order {
  memory_order_relaxed,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
};
enum thread_scope {
  thread_scope_thread,
  thread_scope_simdgroup,
  thread_scope_threadgroup,
  thread_scope_device
};

inline void threadgroup_barrier(mem_flags, KFE_WHERE) { kfe_barrier(file, line); }
inline void simdgroup_barrier(mem_flags, KFE_WHERE) { kfe_meet(0, KFE_SYNC, nullptr, 0, file, line); }
inline void atomic_thread_fence(mem_flags, memory_order, thread_scope scope = thread_scope_device) {
  scope == thread_scope_device ? kfe_fence() : kfe_fence_block();
}

#define KFE_GROUP_REDUCE(prefix, group)                                                         \
  template <class T>                                                                            \
  inline T prefix##_sum(T v, KFE_WHERE) {                                                       \
    return kfe::combined(                                                                       \
        v, kfe::group(), T(0), false, true, [](T a, T b) { return T(a + b); }, file, line);     \
  }                                                                                             \
  template <class T>                                                                            \
  inline T prefix##_product(T v, KFE_WHERE) {                                                   \
    return kfe::combined(                                                                       \
        v, kfe::group(), T(1), false, true, [](T a, T b) { return T(a * b); }, file, line);     \
  }                                                                                             \
  template <class T>                                                                            \
  inline T prefix##_max(T v, KFE_WHERE) {                                                       \
    return kfe::combined(                                                                       \
        v, kfe::group(), v, false, true, [](T a, T b) { return max(a, b); }, file, line);       \
  }                                                                                             \
  template <class T>                                                                            \
  inline T prefix##_min(T v, KFE_WHERE) {                                                       \
    return kfe::combined(                                                                       \
        v, kfe::group(), v, false, true, [](T a, T b) { return min(a, b); }, file, line);       \
  }                                                                                             \
  template <class T>                                                                            \
  inline T prefix##_and(T v, KFE_WHERE) {                                                       \
    return kfe::combined(                                                                       \
        v, kfe::group(), T(~T(0)), false, true, [](T a, T b) { return T(a & b); }, file, line); \
  }                                                                                             \
  template <class T>                                                                            \
  inline T prefix##_or(T v, KFE_WHERE) {                                                        \
    return kfe::combined(                                                                       \
        v, kfe::group(), T(0), false, true, [](T a, T b) { return T(a | b); }, file, line);     \
  }                                                                                             \
  template <class T>                                                                            \
  inline T prefix##_xor(T v, KFE_WHERE) {                                                       \
    return kfe::combined(                                                                       \
        v, kfe::group(), T(0), false, true, [](T a, T b) { return T(a ^ b); }, file, line);     \
  }                                                                                             \
  template <class T>                                                                            \
  inline T prefix##_prefix_inclusive_sum(T v, KFE_WHERE) {                                      \
    return kfe::combined(                                                                       \
        v, kfe::group(), T(0), true, true, [](T a, T b) { return T(a + b); }, file, line);      \
  }                                                                                             \
  template <class T>                                                                            \
  inline T prefix##_prefix_exclusive_sum(T v, KFE_WHERE) {                                      \
    return kfe::combined(                                                                       \
        v, kfe::group(), T(0), true, false, [](T a, T b) { return T(a + b); }, file, line);     \
  }                                                                                             \
  template <class T>                                                                            \
  inline T prefix##_prefix_inclusive_product(T v, KFE_WHERE) {                                  \
    return kfe::combined(                                                                       \
        v, kfe::group(), T(1), true, true, [](T a, T b) { return T(a * b); }, file, line);      \
  }                                                                                             \
  template <class T>                                                                            \
  inline T prefix##_prefix_exclusive_product(T v, KFE_WHERE) {                                  \
    return kfe::combined(                                                                       \
        v, kfe::group(), T(1), true, false, [](T a, T b) { return T(a * b); }, file, line);     \
  }
KFE_GROUP_REDUCE(simd, whole_group) KFE_GROUP_REDUCE(quad, quad_group);
#undef KFE_GROUP_REDUCE

// A source outside of the group is the lane itself (its value is undefined in MSL).
#define KFE_GROUP_SHUFFLE(prefix, width)                                                                     \
  template <class T>                                                                                         \
  inline T prefix##_shuffle(T v, ushort source, KFE_WHERE) {                                                 \
    const KfeLanes* lanes = kfe::brought(0, KFE_SHUFFLE, v, file, line);                                     \
    return kfe::taken<T>(lanes, kfe::lane() / width * width + source % width, file, line);                   \
  }                                                                                                          \
  template <class T>                                                                                         \
  inline T prefix##_broadcast(T v, ushort source, KFE_WHERE) {                                               \
    return prefix##_shuffle(v, source, file, line);                                                          \
  }                                                                                                          \
  template <class T>                                                                                         \
  inline T prefix##_broadcast_first(T v, KFE_WHERE) {                                                        \
    const KfeLanes* lanes = kfe::brought(0, KFE_SHUFFLE, v, file, line);                                     \
    const unsigned group = width == 32 ? ~0u : kfe::quad_group();                                            \
    return kfe::taken<T>(lanes, static_cast<unsigned>(__builtin_ctz(lanes->arrived & group)), file, line);   \
  }                                                                                                          \
  template <class T>                                                                                         \
  inline T prefix##_shuffle_xor(T v, ushort other, KFE_WHERE) {                                              \
    const KfeLanes* lanes = kfe::brought(0, KFE_SHUFFLE, v, file, line);                                     \
    return kfe::taken<T>(lanes, kfe::lane() ^ other, file, line);                                            \
  }                                                                                                          \
  template <class T>                                                                                         \
  inline T prefix##_shuffle_down(T v, ushort delta, KFE_WHERE) {                                             \
    const KfeLanes* lanes = kfe::brought(0, KFE_SHUFFLE, v, file, line);                                     \
    return kfe::lane() % width + delta >= width ? v : kfe::taken<T>(lanes, kfe::lane() + delta, file, line); \
  }                                                                                                          \
  template <class T>                                                                                         \
  inline T prefix##_shuffle_up(T v, ushort delta, KFE_WHERE) {                                               \
    const KfeLanes* lanes = kfe::brought(0, KFE_SHUFFLE, v, file, line);                                     \
    return delta > kfe::lane() % width ? v : kfe::taken<T>(lanes, kfe::lane() - delta, file, line);          \
  }                                                                                                          \
  template <class T>                                                                                         \
  inline T prefix##_shuffle_rotate_down(T v, ushort delta, KFE_WHERE) {                                      \
    return prefix##_shuffle(v, static_cast<ushort>((kfe::lane() + delta) % width), file, line);              \
  }                                                                                                          \
  template <class T>                                                                                         \
  inline T prefix##_shuffle_rotate_up(T v, ushort delta, KFE_WHERE) {                                        \
    return prefix##_shuffle(v, static_cast<ushort>((kfe::lane() + width - delta % width) % width), file,     \
                            line);                                                                           \
  }                                                                                                          \
  template <class T>                                                                                         \
  inline T prefix##_shuffle_and_fill_down(T v, T fill, ushort delta, ushort modulo, KFE_WHERE) {             \
    const unsigned at = kfe::lane() % modulo, from = kfe::lane() - at + (at + delta) % modulo;               \
    const T moved = kfe::taken<T>(kfe::brought(0, KFE_SHUFFLE, v, file, line), from, file, line);            \
    const T filled = kfe::taken<T>(kfe::brought(0, KFE_SHUFFLE, fill, file, line), from, file, line);        \
    return at + delta < modulo ? moved : filled;                                                             \
  }                                                                                                          \
  template <class T>                                                                                         \
  inline T prefix##_shuffle_and_fill_down(T v, T fill, ushort delta, KFE_WHERE) {                            \
    return prefix##_shuffle_and_fill_down(v, fill, delta, static_cast<ushort>(width), file, line);           \
  }                                                                                                          \
  template <class T>                                                                                         \
  inline T prefix##_shuffle_and_fill_up(T v, T fill, ushort delta, ushort modulo, KFE_WHERE) {               \
    const unsigned at = kfe::lane() % modulo, from = kfe::lane() - at + (at + modulo - delta) % modulo;      \
    const T moved = kfe::taken<T>(kfe::brought(0, KFE_SHUFFLE, v, file, line), from, file, line);            \
    const T filled = kfe::taken<T>(kfe::brought(0, KFE_SHUFFLE, fill, file, line), from, file, line);        \
    return at >= delta ? moved : filled;                                                                     \
  }                                                                                                          \
  template <class T>                                                                                         \
  inline T prefix##_shuffle_and_fill_up(T v, T fill, ushort delta, KFE_WHERE) {                              \
    return prefix##_shuffle_and_fill_up(v, fill, delta, static_cast<ushort>(width), file, line);             \
  }
KFE_GROUP_SHUFFLE(simd, 32) KFE_GROUP_SHUFFLE(quad, 4);
#undef KFE_GROUP_SHUFFLE

struct simd_vote {
  typedef ulong vote_t;
  vote_t kfe_lanes;
  explicit simd_vote(vote_t lanes) : kfe_lanes(lanes) {}
  explicit operator vote_t() const { return kfe_lanes; }
  bool any() const { return kfe_lanes != 0; }
  bool all() const { return (kfe_lanes & 0xFFFFFFFFu) == 0xFFFFFFFFu; }
};
namespace kfe_detail {
inline unsigned voted(bool yes, unsigned& arrived, const char* file, int line) {
  const unsigned char one = yes;
  const KfeLanes* lanes = kfe_meet(0, KFE_VOTE, &one, 1, file, line);
  arrived = lanes->arrived;
  unsigned all = 0;
  for (unsigned left = arrived; left; left &= left - 1)
    if (lanes->value[__builtin_ctz(left)][0]) all |= left & -left;
  return all;
}
}  // namespace kfe_detail
inline simd_vote simd_ballot(bool yes, KFE_WHERE) {
  unsigned arrived;
  return simd_vote(kfe_detail::voted(yes, arrived, file, line));
}
inline bool simd_any(bool yes, KFE_WHERE) {
  unsigned arrived;
  return kfe_detail::voted(yes, arrived, file, line) != 0;
}
inline bool simd_all(bool yes, KFE_WHERE) {
  unsigned arrived;
  return kfe_detail::voted(yes, arrived, file, line) == arrived;
}
inline simd_vote simd_active_threads_mask(KFE_WHERE) {
  return simd_vote(kfe_meet(0, KFE_SYNC, nullptr, 0, file, line)->arrived);
}
inline bool simd_is_first(KFE_WHERE) {
  return static_cast<unsigned>(__builtin_ctz(kfe_meet(0, KFE_SYNC, nullptr, 0, file, line)->arrived)) ==
         kfe::lane();
}
inline bool simd_is_helper_thread() { return false; }

}  // namespace metal
