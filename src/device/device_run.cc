#include "device/device_run.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/random_seed.h"

namespace kforge {
namespace {

constexpr std::size_t kGuardBytes = 4096;                   // before and after; a multiple of any alignment
constexpr std::size_t kChunk = std::size_t{4} << 20;        // of transfers that are only looked at
constexpr std::size_t kOwnMemory = std::size_t{256} << 20;  // all sets of the plan's private buffers together

std::vector<std::byte> random_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  std::uint64_t state = random_seed() | 1;
  for (std::byte& byte : bytes) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    byte = static_cast<std::byte>(state >> 32);
  }
  return bytes;
}

constexpr std::uint64_t kEmptyFingerprint = 1469598103934665603u;

std::uint64_t add_to_fingerprint(std::uint64_t value, std::span<const std::byte> bytes) {
  std::size_t i = 0;
  for (std::uint64_t word; i + sizeof word <= bytes.size(); i += sizeof word) {
    std::memcpy(&word, bytes.data() + i, sizeof word);
    value = (value ^ word) * 1099511628211u;
    value ^= value >> 29;
  }
  for (; i < bytes.size(); ++i) value = (value ^ static_cast<std::uint64_t>(bytes[i])) * 1099511628211u;
  return value;
}

// A value no honest program makes: for floats NaN, else bits drawn now.
std::vector<std::byte> poison_element(DType dtype) {
  const auto drawn = static_cast<std::uint32_t>(random_seed());
  std::vector<std::byte> element = random_bytes(size_of(dtype));
  auto set = [&](auto bits) { std::memcpy(element.data(), &bits, sizeof bits); };
  if (dtype == DType::kFloat32) set(0x7fc00000u | (drawn & 0x3fffffu));
  if (dtype == DType::kFloat16) set(static_cast<std::uint16_t>(0x7e00u | (drawn & 0x1ffu)));
  if (dtype == DType::kBFloat16) set(static_cast<std::uint16_t>(0x7fc0u | (drawn & 0x3fu)));
  if (dtype == DType::kFloat64) set(0x7ff8000000000000u | drawn);
  return element;
}

// None before a simulator, which sees itself what goes past the end of a buffer.
std::size_t guard_bytes() { return std::getenv("KFORGE_DEVICE_UNGUARDED") ? 0 : kGuardBytes; }

}  // namespace

DeviceRun::DeviceRun(DeviceApi& api, const LaunchPlan& plan, const PlanSetting& setting,
                     const HostTensors& host, std::uint32_t slots)
    : api_(api),
      plan_(plan),
      setting_(setting),
      host_(host),
      guard_(random_bytes(guard_bytes())),
      slots_(slots) {
  std::size_t bytes = 1;
  for (std::size_t i = plan_.tensors; i < plan_.memory.size(); ++i)
    if (!plan_.memory[i].prepared) bytes += plan_.memory[i].bytes;
  own_.resize(std::clamp<std::size_t>(kOwnMemory / bytes, 1, slots));
}

Result<DeviceRun::Guarded> DeviceRun::allocate(std::size_t bytes) {
  Guarded made;
  made.bytes = bytes;
  KF_TRY(made.memory, api_.allocate(bytes + 2 * guard_.size()));
  if (guard_.empty()) return made;
  KF_TRY_VOID(made.memory->write(0, guard_));
  KF_TRY_VOID(made.memory->write(guard_.size() + bytes, guard_));
  return made;
}

Result<void> DeviceRun::upload_params() {
  for (std::size_t i = 0; i < plan_.tensors; ++i) {
    if (!setting_.tensors[i].param) continue;
    if (!params_.contains(i)) {
      KF_TRY(params_[i], allocate(plan_.memory[i].bytes));
    }
    KF_TRY_VOID(fill(params_[i], host_.data(i, 0)));
  }
  return {};
}

Result<void> DeviceRun::poison(std::size_t buffer, const Guarded& at) {
  const std::vector<std::byte> element = poison_element(plan_.memory[buffer].dtype);
  std::vector<std::byte> block(std::min(at.bytes, kChunk / element.size() * element.size()));
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = element[i % element.size()];
  for (std::size_t done = 0; done < at.bytes; done += block.size())
    KF_TRY_VOID(at.memory->write(guard_.size() + done,
                                 std::span(block).first(std::min(block.size(), at.bytes - done))));
  return {};
}

// By the plan's numbers. Without a slot: what `prepare` may use, params and buffers.
Result<std::vector<PlacedMemory>> DeviceRun::places(const Slot* slot, Buffers& own) {
  std::vector<PlacedMemory> all(plan_.memory.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Guarded* at = nullptr;
    if (i >= plan_.tensors) {
      Buffers& buffers = plan_.memory[i].prepared ? prepared_ : own;
      if (!buffers.contains(i)) {
        KF_TRY(buffers[i], allocate(plan_.memory[i].bytes));
      }
      at = &buffers.at(i);
    } else if (setting_.tensors[i].param) {
      at = &params_.at(i);
    } else if (slot) {
      at = &slot->tensors[i];
    }
    if (at) all[i] = {at->memory.get(), guard_.size(), at->bytes};
  }
  return all;
}

Result<void> DeviceRun::prepare() {
  KF_TRY_VOID(upload_params());
  if (!has_prepare()) return {};
  KF_TRY(auto memory, places(nullptr, own_.front()));
  for (const auto& [buffer, at] : prepared_) KF_TRY_VOID(poison(buffer, at));
  KF_TRY(auto call, api_.record(plan_, plan_.prepare, memory));
  KF_TRY_VOID(api_.submit(*call));
  KF_TRY([[maybe_unused]] std::uint64_t ns, api_.finish());
  for (auto& [buffer, at] : prepared_) {
    KF_TRY(at.values, fingerprint(at));
  }
  return {};
}

Result<void> DeviceRun::open_slot(std::uint32_t index) {
  Slot& slot = slots_.at(index);
  if (slot.call) return {};
  slot.tensors.resize(plan_.tensors);
  for (std::size_t i = 0; i < plan_.tensors; ++i)
    if (!setting_.tensors[i].param) {
      KF_TRY(slot.tensors[i], allocate(plan_.memory[i].bytes));
    }
  KF_TRY(auto memory, places(&slot, own_buffers(index)));
  KF_TRY(slot.call, api_.record(plan_, plan_.run, memory));
  return {};
}

Result<void> DeviceRun::upload(std::span<const std::uint32_t> slots) {
  // Params of a program that has prepared are those it prepared.
  if (!has_prepare()) KF_TRY_VOID(upload_params());
  for (const std::uint32_t index : slots) {
    KF_TRY_VOID(open_slot(index));
    for (std::size_t i = 0; i < plan_.tensors; ++i)
      if (!setting_.tensors[i].param) KF_TRY_VOID(fill(slots_[index].tensors[i], host_.data(i, index)));
  }
  for (const Buffers& set : own_)
    for (const auto& [buffer, at] : set) KF_TRY_VOID(poison(buffer, at));
  return {};
}

Result<std::uint64_t> DeviceRun::call(std::span<const std::uint32_t> slots) {
  for (const std::uint32_t index : slots) {
    if (!slots_.at(index).call) return fail("slot {} was not uploaded", index);
    KF_TRY_VOID(api_.submit(*slots_[index].call));
  }
  return api_.finish();
}

Result<std::optional<std::string>> DeviceRun::broken_guard(const std::string& name, const Guarded& at) const {
  if (guard_.empty()) return std::nullopt;
  std::vector<std::byte> found(guard_.size());
  KF_TRY_VOID(at.memory->read(0, found));
  for (std::size_t i = guard_.size(); i-- > 0;)
    if (found[i] != guard_[i])
      return fmt::format("the program wrote {} bytes before the start of {}", guard_.size() - i, name);
  KF_TRY_VOID(at.memory->read(guard_.size() + at.bytes, found));
  for (std::size_t i = 0; i < guard_.size(); ++i)
    if (found[i] != guard_[i])
      return fmt::format("the program wrote {} bytes past the end of {}", i + 1, name);
  return std::nullopt;
}

Result<std::uint64_t> DeviceRun::fingerprint(const Guarded& at) const {
  std::uint64_t value = kEmptyFingerprint;
  std::vector<std::byte> found(std::min(kChunk, at.bytes));
  for (std::size_t done = 0; done < at.bytes; done += found.size()) {
    const auto part = std::span(found).first(std::min(found.size(), at.bytes - done));
    KF_TRY_VOID(at.memory->read(guard_.size() + done, part));
    value = add_to_fingerprint(value, part);
  }
  return value;
}

// What is uploaded is kept in mind, not looked up again: the parent changes its memory while a call runs.
Result<void> DeviceRun::fill(Guarded& at, std::span<const std::byte> from) {
  at.values = kEmptyFingerprint;
  for (std::size_t done = 0; done < from.size(); done += kChunk)
    at.values = add_to_fingerprint(at.values, from.subspan(done, std::min(kChunk, from.size() - done)));
  return at.memory->write(guard_.size(), from);
}

Result<std::optional<std::string>> DeviceRun::broken(std::size_t memory, const Guarded& at,
                                                     const char* why) const {
  KF_TRY(auto found, broken_guard(plan_.memory[memory].name, at));
  if (found || !why) return found;
  KF_TRY(const std::uint64_t values, fingerprint(at));
  if (values == at.values) return std::nullopt;
  return fmt::format("the program wrote to {}, which {}", plan_.memory[memory].name, why);
}

Result<std::optional<std::string>> DeviceRun::download(std::span<const std::uint32_t> slots) {
  constexpr const char *kInput = "is read-only", *kPrepared = "prepare made and run may only read";
  for (const std::uint32_t index : slots)
    for (std::size_t i = 0; i < plan_.tensors; ++i) {
      if (setting_.tensors[i].param) continue;
      const bool output = setting_.tensors[i].output;
      const Guarded& at = slots_.at(index).tensors.at(i);
      KF_TRY(auto found, broken(i, at, output ? nullptr : kInput));
      if (found) return found;
      if (output) KF_TRY_VOID(at.memory->read(guard_.size(), host_.data(i, index)));
    }
  for (const auto& [tensor, at] : params_) {
    KF_TRY(auto found, broken(tensor, at, kInput));
    if (found) return found;
  }
  for (const auto& [buffer, at] : prepared_) {
    KF_TRY(auto found, broken(buffer, at, kPrepared));
    if (found) return found;
  }
  for (const Buffers& set : own_)
    for (const auto& [buffer, at] : set) {
      KF_TRY(auto found, broken(buffer, at, nullptr));
      if (found) return found;
    }
  return std::nullopt;
}

}  // namespace kforge
