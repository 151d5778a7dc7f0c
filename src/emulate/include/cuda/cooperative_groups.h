// Cooperative groups of a block: thread_block, tiles, coalesced threads. A grid's barrier needs all its
// blocks at once, which the emulator does not have.
#pragma once

#include "cuda_runtime.h"

namespace cooperative_groups {

class thread_block {
 public:
  static void sync(KFE_WHERE) { kfe_barrier(file, line); }
  static unsigned thread_rank() { return kfe_thread_number; }
  static unsigned size() { return kfe_block_size.x * kfe_block_size.y * kfe_block_size.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

// Lanes of one warp, by mask.
class thread_group {
 public:
  explicit thread_group(unsigned mask) : mask_(mask) {}
  void sync(KFE_WHERE) const { kfe_meet(mask_, KFE_SYNC, nullptr, 0, file, line); }
  unsigned size() const { return static_cast<unsigned>(__builtin_popcount(mask_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const {
    return static_cast<unsigned>(__builtin_popcount(mask_ & ((1u << kfe::lane()) - 1)));
  }
  unsigned mask() const { return mask_; }
  int any(int predicate, KFE_WHERE) const { return kfe::ballot(mask_, predicate, file, line) != 0; }
  int all(int predicate, KFE_WHERE) const { return kfe::ballot(mask_, !predicate, file, line) == 0; }
  // Bits are ranks in the group.
  unsigned ballot(int predicate, KFE_WHERE) const {
    return packed(kfe::ballot(mask_, predicate, file, line));
  }
  template <class T>
  unsigned match_any(T value, KFE_WHERE) const {
    return packed(__match_any_sync(mask_, value, file, line));
  }
  template <class T>
  T shfl(T value, unsigned rank, KFE_WHERE) const {
    const KfeLanes* lanes = kfe::bring(mask_, KFE_SHUFFLE, value, file, line);
    return kfe::value_of<T>(lanes, lane_of(rank % size()), file, line);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, KFE_WHERE) const {
    return moved(value, thread_rank() + delta, file, line);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, KFE_WHERE) const {
    return moved(value, thread_rank() - delta, file, line);
  }
  template <class T>
  T shfl_xor(T value, unsigned other, KFE_WHERE) const {
    return moved(value, thread_rank() ^ other, file, line);
  }

 protected:
  template <class T>
  T moved(T value, unsigned rank, const char* file, int line) const {
    const KfeLanes* lanes = kfe::bring(mask_, KFE_SHUFFLE, value, file, line);
    return rank < size() ? kfe::value_of<T>(lanes, lane_of(rank), file, line) : value;
  }
  unsigned lane_of(unsigned rank) const {
    unsigned left = mask_;
    while (rank--) left &= left - 1;
    return static_cast<unsigned>(__builtin_ctz(left));
  }
  unsigned packed(unsigned lanes) const {
    unsigned out = 0, bit = 0;
    for (unsigned left = mask_; left; left &= left - 1, ++bit)
      if (lanes & (left & -left)) out |= 1u << bit;
    return out;
  }
  unsigned mask_;
};

template <unsigned Size, class Parent = thread_block>
class thread_block_tile : public thread_group {
 public:
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "tiles have 1, 2, 4, 8, 16 or 32 threads");
  thread_block_tile() : thread_group(group_mask()) {}
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned thread_rank() { return kfe_thread_number % Size; }
  static unsigned meta_group_rank() { return kfe_thread_number / Size; }
  static unsigned meta_group_size() { return (thread_block::size() + Size - 1) / Size; }

 private:
  static unsigned group_mask() {
    const unsigned ones = Size == 32 ? ~0u : (1u << Size % 32) - 1;
    return ones << (kfe::lane() / Size * Size);
  }
};

typedef thread_group coalesced_group;
inline coalesced_group coalesced_threads(KFE_WHERE) { return coalesced_group(__activemask(file, line)); }

template <unsigned Size, class Parent>
inline thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}
inline thread_group tiled_partition(const thread_block&, unsigned size) {
  const unsigned ones = size == 32 ? ~0u : (1u << size % 32) - 1;
  return thread_group(ones << (kfe::lane() / size * size));
}

template <class Group>
inline void sync(const Group& group, KFE_WHERE) {
  group.sync(file, line);
}

// Operators and reductions of <cooperative_groups/reduce.h>.
template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};
template <class Group, class T, class Combine>
inline T reduce(const Group& group, T value, Combine combine, KFE_WHERE) {
  return kfe::reduce(group.mask(), value, combine, file, line);
}
template <class Group, class T, class Combine>
inline T inclusive_scan(const Group& group, T value, Combine combine, KFE_WHERE) {
  const unsigned rank = group.thread_rank();
  for (unsigned delta = 1; delta < group.size(); delta *= 2) {
    const T other = group.shfl_up(value, delta, file, line);
    if (rank >= delta) value = combine(other, value);
  }
  return value;
}
template <class Group, class T>
inline T inclusive_scan(const Group& group, T value, KFE_WHERE) {
  return inclusive_scan(group, value, plus<T>(), file, line);
}
template <class Group, class T>
inline T exclusive_scan(const Group& group, T value, KFE_WHERE) {
  const T whole = inclusive_scan(group, value, plus<T>(), file, line);
  const T before = group.shfl_up(whole, 1, file, line);
  return group.thread_rank() == 0 ? T{} : before;
}

}  // namespace cooperative_groups
