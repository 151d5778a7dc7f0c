#include "execute/tensor_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kforge {
namespace {

constexpr std::size_t kDeviceRoom = 4 * KFORGE_GUARD_BYTES;    // around each tensor on a device
constexpr std::size_t kDeviceBuffers = std::size_t{64} << 20;  // of the programs' own

constexpr std::size_t kPage = 4096;
constexpr std::size_t kAlign = 64;

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

KforgeArena arena_of(Role role) {
  switch (role) {
    case Role::kParam:
      return KFORGE_ARENA_PARAMS;
    case Role::kInput:
      return KFORGE_ARENA_INPUTS;
    case Role::kInout:
    case Role::kOutput:
      return KFORGE_ARENA_OUTPUTS;
  }
  return KFORGE_ARENA_OUTPUTS;
}

// The data ends where the last page ends, so that one step too far meets the guard page.
KforgeArgumentRow place(const BoundArgument& argument) {
  KforgeArgumentRow row{};
  row.arena = arena_of(argument.role);
  row.is_param = argument.role == Role::kParam;
  row.data_bytes = argument.bytes();
  std::size_t padded = round_up(row.data_bytes, kAlign);
  row.pages_bytes = std::max(kPage, round_up(padded, kPage));
  row.data_offset = row.pages_bytes - padded;
  row.stride = row.is_param ? 0 : row.pages_bytes;
  return row;
}

// The poison of an element of `size` bytes as a 64-bit word that repeats it.
std::uint64_t poison_word(DType dtype, std::uint64_t seed) {
  switch (dtype) {
    case DType::kFloat32:
      return 0x7fb0'5eed'7fb0'5eedull;
    case DType::kFloat64:
      return 0x7ff4'5eed'5eed'5eedull;
    case DType::kFloat16:
      return 0x7d5e'7d5e'7d5e'7d5eull;
    case DType::kBFloat16:
      return 0x7fa5'7fa5'7fa5'7fa5ull;
    default:
      break;
  }
  std::uint64_t byte = 0x80 | (seed & 0x7f);
  std::uint64_t word = byte * 0x0101'0101'0101'0101ull;
  return size_of(dtype) == 1 ? word : word ^ 0x0011'0022'0033'0044ull;
}

}  // namespace

MemoryLayout MemoryLayout::of(const BoundTask& task, std::uint32_t slots) {
  KF_CHECK(slots > 0 && slots <= KFORGE_MAX_SLOTS, "{} slots", slots);
  MemoryLayout layout;
  layout.slots = slots;
  for (const BoundArgument& argument : task.arguments) {
    KforgeArgumentRow row = place(argument);
    std::size_t& used = layout.arena_bytes[row.arena];
    row.offset = used;
    used += row.pages_bytes * (row.is_param ? 1 : slots);
    layout.rows.push_back(row);
  }
  for (std::size_t& bytes : layout.arena_bytes) bytes = std::max(bytes, kPage);
  return layout;
}

std::size_t MemoryLayout::bytes_per_slot(const BoundTask& task) {
  std::size_t bytes = 0;
  for (const BoundArgument& argument : task.arguments)
    if (argument.role != Role::kParam) bytes += place(argument).pages_bytes;
  return bytes;
}

Result<TensorMemory> TensorMemory::create(const MemoryLayout& layout, KforgeArena arena, bool sealed) {
  TensorMemory memory;
  memory.arena_ = arena;
  memory.rows_ = layout.rows;
  memory.slots_ = layout.slots;
  static constexpr const char* kNames[] = {"kforge-params", "kforge-inputs", "kforge-outputs"};
  KF_TRY(memory.fd_, make_memfd(kNames[arena], layout.arena_bytes[arena]));
  KF_TRY(memory.map_, Mapping::map(memory.fd_.get(), layout.arena_bytes[arena], true));
  // Fixed size always: a program that shrank the file would make the parent's next read a bus error.
  int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  // The mapping above stays writable; every later one, and mprotect on it, is refused by the kernel.
  if (sealed) seals |= F_SEAL_FUTURE_WRITE;
  if (::fcntl(memory.fd_.get(), F_ADD_SEALS, seals) != 0)
    return fail_with_remedy("KForge needs Linux 5.1 or newer",
                            fmt::format("cannot seal shared memory: {}", std::strerror(errno)));
  if (::getrandom(&memory.canary_, 1, 0) != 1) memory.canary_ = std::byte{0x5a};
  return memory;
}

const KforgeArgumentRow& TensorMemory::row(std::size_t argument) const {
  KF_CHECK(argument < rows_.size() && rows_[argument].arena == static_cast<std::uint32_t>(arena_),
           "argument {} is not in this arena", argument);
  return rows_[argument];
}

std::span<std::byte> TensorMemory::tensor(std::size_t argument, std::uint32_t slot) const {
  const KforgeArgumentRow& r = row(argument);
  KF_CHECK(slot < slots_, "slot {} of {}", slot, slots_);
  return map_.bytes().subspan(r.offset + slot * r.stride + r.data_offset, r.data_bytes);
}

void TensorMemory::let_go() const {
  constexpr std::size_t kLarge = 4 << 20;  // less is not worth the page faults
  if (map_.size() >= kLarge && !stays_) (void)::madvise(map_.data(), map_.size(), MADV_DONTNEED);
}

void TensorMemory::stay_in_view() {
  constexpr std::size_t kMost = std::size_t{96} << 20;
  stays_ = map_.size() <= kMost;
  // All at once; before Linux 5.14 they come page by page as they are written to.
  if (stays_) (void)::madvise(map_.data(), map_.size(), MADV_POPULATE_WRITE);
}

void TensorMemory::set_canaries(std::size_t argument, std::uint32_t slot) const {
  const KforgeArgumentRow& r = row(argument);
  std::byte* pages = map_.data() + r.offset + slot * r.stride;
  std::size_t end = r.data_offset + r.data_bytes;
  std::memset(pages, static_cast<int>(canary_), r.data_offset);
  std::memset(pages + end, static_cast<int>(canary_), r.pages_bytes - end);
}

std::optional<std::int64_t> TensorMemory::broken_canary(std::size_t argument, std::uint32_t slot) const {
  const KforgeArgumentRow& r = row(argument);
  const std::byte* pages = map_.data() + r.offset + slot * r.stride;
  std::size_t end = r.data_offset + r.data_bytes;
  for (std::size_t i = end; i < r.pages_bytes; ++i)
    if (pages[i] != canary_) return static_cast<std::int64_t>(i - end);
  for (std::size_t i = r.data_offset; i-- > 0;)
    if (pages[i] != canary_) return static_cast<std::int64_t>(i) - static_cast<std::int64_t>(r.data_offset);
  return std::nullopt;
}

Result<InputMemory> InputMemory::create(const BoundTask& task, std::uint32_t slots) {
  InputMemory memory;
  memory.layout = MemoryLayout::of(task, slots);
  KF_TRY(memory.params, TensorMemory::create(memory.layout, KFORGE_ARENA_PARAMS, true));
  KF_TRY(memory.inputs, TensorMemory::create(memory.layout, KFORGE_ARENA_INPUTS, true));
  return memory;
}

Result<InputMemory> InputMemory::create_for_turns(const BoundTask& task, std::uint32_t slots) {
  KF_TRY(InputMemory memory, create(task, slots));
  memory.inputs.stay_in_view();  // new values before every round, flushed before every batch
  KF_TRY(TensorMemory outputs, TensorMemory::create(memory.layout, KFORGE_ARENA_OUTPUTS, false));
  outputs.stay_in_view();  // reset before every batch of every program
  memory.outputs = std::make_shared<const TensorMemory>(std::move(outputs));
  // Takes memory only where a program uses it.
  const std::size_t tensors = std::size_t{slots} * memory.layout.rows.size();
  KF_TRY(Fd device, make_memfd("device-memory", memory.layout.arena_bytes[KFORGE_ARENA_PARAMS] +
                                                    memory.layout.arena_bytes[KFORGE_ARENA_INPUTS] +
                                                    memory.layout.arena_bytes[KFORGE_ARENA_OUTPUTS] +
                                                    tensors * kDeviceRoom + kDeviceBuffers));
  memory.device = std::make_shared<const Fd>(std::move(device));
  return memory;
}

void poison(DType dtype, std::uint64_t seed, std::span<std::byte> destination) {
  std::uint64_t word = poison_word(dtype, seed);
  std::byte* at = destination.data();
  std::size_t whole = destination.size() / sizeof word;
  for (std::size_t i = 0; i < whole; ++i) std::memcpy(at + i * sizeof word, &word, sizeof word);
  std::memcpy(at + whole * sizeof word, &word, destination.size() % sizeof word);
}

std::int64_t count_poison(DType dtype, std::uint64_t seed, std::span<const std::byte> data) {
  std::uint64_t word = poison_word(dtype, seed);
  std::size_t size = size_of(dtype);
  std::int64_t count = 0;
  for (std::size_t at = 0; at + size <= data.size(); at += size) {
    const std::byte* expected = reinterpret_cast<const std::byte*>(&word) + at % sizeof word;
    count += std::memcmp(data.data() + at, expected, size) == 0;
  }
  return count;
}

}  // namespace kforge
