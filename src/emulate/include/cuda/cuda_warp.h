// Functions of a warp: shuffles, votes, matches, reductions. The lanes of a mask meet, and each takes what it
// wants.
#pragma once

#include "kforge/device_api.h"

namespace kfe {

inline unsigned lane() { return kfe_thread_number % KFE_LANES; }

// The value of lane `source`, of what the lanes brought. A lane that brought none has garbage on a device,
// too.
template <class T>
inline T value_of(const KfeLanes* lanes, unsigned source, const char* file, int line) {
  T value;
  if (__builtin_expect(!(lanes->arrived >> source & 1), 0)) {
    kfe_absent_lane(source, file, line);
    __builtin_memset(static_cast<void*>(&value), 0xFF, sizeof value);
    return value;
  }
  __builtin_memcpy(static_cast<void*>(&value), lanes->value[source], sizeof value);
  return value;
}

template <class T>
inline const KfeLanes* bring(unsigned mask, int kind, const T& value, const char* file, int line) {
  static_assert(sizeof(T) <= KFE_VALUE_BYTES, "a lane exchanges at most 16 bytes at a time");
  return kfe_meet(mask, kind, &value, sizeof value, file, line);
}

// Shuffles, in groups of `width` lanes; a source outside of the group is the lane itself.
template <class T>
KFE_APART T shuffle(unsigned mask, T value, int source, int width, const char* file, int line) {
  const unsigned base = lane() & ~static_cast<unsigned>(width - 1);
  const KfeLanes* lanes = bring(mask, KFE_SHUFFLE, value, file, line);
  return value_of<T>(lanes, base + (static_cast<unsigned>(source) & static_cast<unsigned>(width - 1)), file,
                     line);
}
template <class T>
KFE_APART T shuffle_up(unsigned mask, T value, unsigned delta, int width, const char* file, int line) {
  const unsigned in_group = lane() & static_cast<unsigned>(width - 1);
  const KfeLanes* lanes = bring(mask, KFE_SHUFFLE, value, file, line);
  return delta > in_group ? value : value_of<T>(lanes, lane() - delta, file, line);
}
template <class T>
KFE_APART T shuffle_down(unsigned mask, T value, unsigned delta, int width, const char* file, int line) {
  const unsigned in_group = lane() & static_cast<unsigned>(width - 1);
  const KfeLanes* lanes = bring(mask, KFE_SHUFFLE, value, file, line);
  return in_group + delta >= static_cast<unsigned>(width) ? value
                                                          : value_of<T>(lanes, lane() + delta, file, line);
}
template <class T>
KFE_APART T shuffle_xor(unsigned mask, T value, int other, int width, const char* file, int line) {
  const unsigned base = lane() & ~static_cast<unsigned>(width - 1);
  const unsigned source = lane() ^ static_cast<unsigned>(other);
  const KfeLanes* lanes = bring(mask, KFE_SHUFFLE, value, file, line);
  return source >= base + static_cast<unsigned>(width) ? value : value_of<T>(lanes, source, file, line);
}

template <class T, class Combine>
KFE_APART T reduce(unsigned mask, T value, Combine combine, const char* file, int line) {
  const KfeLanes* lanes = bring(mask, KFE_REDUCE, value, file, line);
  bool first = true;
  T all = value;
  for (unsigned left = lanes->arrived; left; left &= left - 1) {
    T one;
    __builtin_memcpy(static_cast<void*>(&one), lanes->value[__builtin_ctz(left)], sizeof one);
    all = first ? one : combine(all, one);
    first = false;
  }
  return all;
}

KFE_APART unsigned ballot(unsigned mask, int predicate, const char* file, int line) {
  const unsigned char yes = predicate != 0;
  const KfeLanes* lanes = kfe_meet(mask, KFE_VOTE, &yes, 1, file, line);
  unsigned all = 0;
  for (unsigned left = lanes->arrived; left; left &= left - 1) {
    const int one = __builtin_ctz(left);
    if (lanes->value[one][0]) all |= 1u << one;
  }
  return all;
}

}  // namespace kfe

template <class T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, KFE_WHERE) {
  return kfe::shuffle(mask, value, source, width, file, line);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, KFE_WHERE) {
  return kfe::shuffle_up(mask, value, delta, width, file, line);
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, KFE_WHERE) {
  return kfe::shuffle_down(mask, value, delta, width, file, line);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int other, int width = 32, KFE_WHERE) {
  return kfe::shuffle_xor(mask, value, other, width, file, line);
}
inline void __syncwarp(unsigned mask = 0xFFFFFFFFu, KFE_WHERE) {
  kfe_meet(mask, KFE_SYNC, nullptr, 0, file, line);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, KFE_WHERE) {
  return kfe::ballot(mask, predicate, file, line);
}
inline int __any_sync(unsigned mask, int predicate, KFE_WHERE) {
  return kfe::ballot(mask, predicate, file, line) != 0;
}
inline int __all_sync(unsigned mask, int predicate, KFE_WHERE) {
  return kfe::ballot(mask, !predicate, file, line) == 0;
}
inline unsigned __activemask(KFE_WHERE) { return kfe_meet(0, KFE_SYNC, nullptr, 0, file, line)->arrived; }

template <class T>
inline unsigned __match_any_sync(unsigned mask, T value, KFE_WHERE) {
  const KfeLanes* lanes = kfe::bring(mask, KFE_MATCH, value, file, line);
  unsigned same = 0;
  for (unsigned left = lanes->arrived; left; left &= left - 1) {
    const int one = __builtin_ctz(left);
    if (__builtin_memcmp(lanes->value[one], &value, sizeof value) == 0) same |= 1u << one;
  }
  return same;
}
template <class T>
inline unsigned __match_all_sync(unsigned mask, T value, int* all, KFE_WHERE) {
  const KfeLanes* lanes = kfe::bring(mask, KFE_MATCH, value, file, line);
  const unsigned arrived = lanes->arrived;
  for (unsigned left = arrived; left; left &= left - 1)
    if (__builtin_memcmp(lanes->value[__builtin_ctz(left)], &value, sizeof value) != 0) {
      *all = 0;
      return 0;
    }
  *all = 1;
  return arrived;
}

#define KFE_REDUCE_SYNC(name, T, expression)                                \
  inline T __reduce_##name##_sync(unsigned mask, T value, KFE_WHERE) {      \
    return kfe::reduce(                                                     \
        mask, value, [](T a, T b) -> T { return expression; }, file, line); \
  }
// clang-format off
KFE_REDUCE_SYNC(add, unsigned, a + b) KFE_REDUCE_SYNC(add, int, a + b)
KFE_REDUCE_SYNC(min, unsigned, a < b ? a : b) KFE_REDUCE_SYNC(min, int, a < b ? a : b)
KFE_REDUCE_SYNC(max, unsigned, a > b ? a : b) KFE_REDUCE_SYNC(max, int, a > b ? a : b)
KFE_REDUCE_SYNC(and, unsigned, a& b) KFE_REDUCE_SYNC(or, unsigned, a | b);
// clang-format on
KFE_REDUCE_SYNC(xor, unsigned, a ^ b);
#undef KFE_REDUCE_SYNC
