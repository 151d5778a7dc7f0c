#include "device/device_run.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/random_seed.h"

namespace kforge {
namespace {

constexpr std::size_t kPage = 4096;                         // of shared memory
constexpr std::size_t kChunk = std::size_t{4} << 20;        // of poison
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
std::size_t guard_bytes() { return std::getenv("KFORGE_DEVICE_UNGUARDED") ? 0 : KFORGE_GUARD_BYTES; }

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

std::size_t DeviceRun::pages_of(std::size_t bytes) const {
  return (bytes + 2 * guard_.size() + kPage - 1) / kPage * kPage;
}

// Params, then the slots, one behind the other: as the task has them, so that they lie where those of every
// other program lie. What only this program has comes after them.
void DeviceRun::share(std::span<std::byte> pages) {
  shared_ = pages;
  place_.clear();
  params_pages_ = slot_pages_ = set_pages_ = 0;
  for (std::size_t i = 0; i < plan_.memory.size(); ++i) {
    std::size_t& end = i >= plan_.tensors          ? set_pages_
                       : setting_.tensors[i].param ? params_pages_
                                                   : slot_pages_;
    place_.push_back(end);
    if (!plan_.memory[i].prepared) end += pages_of(plan_.memory[i].bytes);
  }
}

std::size_t DeviceRun::place_of_tensor(std::size_t tensor, std::uint32_t slot) const {
  if (shared_.empty()) return 0;
  return setting_.tensors[tensor].param ? place_[tensor]
                                        : params_pages_ + slot * slot_pages_ + place_[tensor];
}

std::size_t DeviceRun::place_of_buffer(std::size_t buffer, std::size_t set) const {
  if (shared_.empty()) return 0;
  return params_pages_ + slots_.size() * slot_pages_ + set * set_pages_ + place_[buffer];
}

Result<DeviceRun::Guarded> DeviceRun::allocate(std::size_t bytes, Lives lives, std::size_t place) {
  Guarded made;
  made.bytes = bytes;
  const std::size_t pages = pages_of(bytes);
  if (lives == Lives::kOneCall && place + pages <= shared_.size()) {
    KF_TRY(made.memory, api_.allocate_on(shared_.subspan(place, pages)));
    made.shared = made.memory != nullptr;
    if (!made.shared) shared_ = {};
  }
  if (!made.memory) {
    KF_TRY(made.memory, api_.allocate(bytes + 2 * guard_.size()));
  }
  KF_TRY_VOID(write_guards(made));
  return made;
}

Result<void> DeviceRun::write_guards(const Guarded& at) const {
  if (guard_.empty()) return {};
  KF_TRY_VOID(at.memory->write(0, guard_));
  return at.memory->write(guard_.size() + at.bytes, guard_);
}

Result<void> DeviceRun::upload_params() {
  for (std::size_t i = 0; i < plan_.tensors; ++i) {
    if (!setting_.tensors[i].param) continue;
    if (!params_.contains(i)) {
      // What was prepared from belongs to this program alone.
      KF_TRY(params_[i], allocate(plan_.memory[i].bytes, has_prepare() ? Lives::kOn : Lives::kOneCall,
                                  place_of_tensor(i, 0)));
    }
    if (params_[i].shared) KF_TRY_VOID(write_guards(params_[i]));
    KF_TRY_VOID(params_[i].memory->write(guard_.size(), host_.data(i, 0)));
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
Result<std::vector<PlacedMemory>> DeviceRun::places(const Slot* slot, std::size_t set) {
  std::vector<PlacedMemory> all(plan_.memory.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Guarded* at = nullptr;
    if (i >= plan_.tensors) {
      const bool prepared = plan_.memory[i].prepared;
      Buffers& buffers = prepared ? prepared_ : own_[set];
      if (!buffers.contains(i)) {
        KF_TRY(buffers[i], allocate(plan_.memory[i].bytes, prepared ? Lives::kOn : Lives::kOneCall,
                                    place_of_buffer(i, set)));
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
  KF_TRY(auto memory, places(nullptr, 0));
  for (const auto& [buffer, at] : prepared_) KF_TRY_VOID(poison(buffer, at));
  KF_TRY(auto call, api_.record(plan_, plan_.prepare, memory));
  KF_TRY_VOID(api_.submit(*call));
  KF_TRY([[maybe_unused]] std::uint64_t ns, api_.finish());
  return {};
}

Result<void> DeviceRun::open_slot(std::uint32_t index) {
  Slot& slot = slots_.at(index);
  if (slot.call) return {};
  slot.tensors.resize(plan_.tensors);
  for (std::size_t i = 0; i < plan_.tensors; ++i)
    if (!setting_.tensors[i].param) {
      KF_TRY(slot.tensors[i], allocate(plan_.memory[i].bytes, Lives::kOneCall, place_of_tensor(i, index)));
    }
  KF_TRY(auto memory, places(&slot, index % own_.size()));
  KF_TRY(slot.call, api_.record(plan_, plan_.run, memory));
  return {};
}

Result<void> DeviceRun::upload(std::span<const std::uint32_t> slots) {
  // Params of a program that has prepared are those it prepared.
  if (!has_prepare()) KF_TRY_VOID(upload_params());
  for (const std::uint32_t index : slots) {
    KF_TRY_VOID(open_slot(index));
    for (std::size_t i = 0; i < plan_.tensors; ++i)
      if (!setting_.tensors[i].param) {
        const Guarded& at = slots_[index].tensors[i];
        if (at.shared) KF_TRY_VOID(write_guards(at));
        KF_TRY_VOID(at.memory->write(guard_.size(), host_.data(i, index)));
      }
  }
  for (const Buffers& set : own_)
    for (const auto& [buffer, at] : set) {
      if (at.shared) KF_TRY_VOID(write_guards(at));
      KF_TRY_VOID(poison(buffer, at));
    }
  return {};
}

Result<std::uint64_t> DeviceRun::call(std::span<const std::uint32_t> slots) {
  for (const std::uint32_t index : slots) {
    if (!slots_.at(index).call) return fail("slot {} was not uploaded", index);
    KF_TRY_VOID(api_.submit(*slots_[index].call));
  }
  return api_.finish();
}

Result<void> DeviceRun::download(std::span<const std::uint32_t> slots) {
  for (const std::uint32_t index : slots)
    for (std::size_t i = 0; i < plan_.tensors; ++i)
      if (setting_.tensors[i].output)
        KF_TRY_VOID(slots_.at(index).tensors.at(i).memory->read(guard_.size(), host_.data(i, index)));
  return {};
}

void DeviceRun::add_stretches(std::size_t memory, const Guarded& at, std::uint32_t slot, bool values) {
  Stretch stretch{&at, {}, 0};
  KforgeShownRow& row = stretch.row;
  const bool tensor = memory < plan_.tensors;
  row.tensor = tensor ? static_cast<std::int32_t>(memory) : -1;
  row.slot = slot;
  row.prepared = !tensor && plan_.memory[memory].prepared;
  if (!tensor) plan_.memory[memory].name.copy(row.name, sizeof row.name - 1);
  auto add = [&](std::uint32_t part, std::size_t offset, std::size_t bytes) {
    row.part = part, row.bytes = bytes, stretch.offset = offset;
    to_show_.push_back(stretch);
  };
  add(KFORGE_SHOWN_BEFORE, 0, guard_.size());
  add(KFORGE_SHOWN_AFTER, guard_.size() + at.bytes, guard_.size());
  if (values) add(KFORGE_SHOWN_VALUES, guard_.size(), at.bytes);
}

Result<bool> DeviceRun::show(std::span<const std::uint32_t> slots, bool from_start,
                             std::span<std::byte> window) {
  if (window.size() < sizeof(KforgeShown) + guard_.size()) return fail("the window is too small");
  if (from_start) {
    to_show_.clear();
    for (const std::uint32_t index : slots)
      for (std::size_t i = 0; i < slots_.at(index).tensors.size(); ++i)
        if (!setting_.tensors[i].param)
          add_stretches(i, slots_[index].tensors[i], index, !setting_.tensors[i].output);
    if (!slots.empty())
      for (const auto& [tensor, at] : params_) add_stretches(tensor, at, 0, true);
    // Buffers have numbers of their own: set by set, in each by the plan's.
    const auto number = [&](std::size_t set, std::size_t buffer) {
      return static_cast<std::uint32_t>(set * plan_.memory.size() + buffer);
    };
    for (const auto& [buffer, at] : prepared_) add_stretches(buffer, at, number(0, buffer), true);
    for (std::size_t set = 0; set < own_.size() && !slots.empty(); ++set)
      for (const auto& [buffer, at] : own_[set]) add_stretches(buffer, at, number(set, buffer), false);
    std::ranges::reverse(to_show_);
  }
  KforgeShown head{};
  std::size_t at = sizeof head;
  while (!to_show_.empty() && head.rows < KFORGE_MAX_SHOWN_ROWS) {
    Stretch& next = to_show_.back();
    // Guard zones come whole, values in parts of whole words.
    std::size_t bytes = std::min<std::size_t>(next.row.bytes, (window.size() - at) / 8 * 8);
    if (bytes < next.row.bytes && next.row.part != KFORGE_SHOWN_VALUES) bytes = 0;
    if (bytes == 0 && next.row.bytes > 0) break;
    KF_TRY_VOID(next.memory->memory->read(next.offset, window.subspan(at, bytes)));
    KforgeShownRow row = next.row;
    row.bytes = bytes, row.at = at;
    head.row[head.rows++] = row;
    at += bytes;
    next.row.first += bytes, next.row.bytes -= bytes, next.offset += bytes;
    if (next.row.bytes == 0) to_show_.pop_back();
  }
  std::memcpy(window.data(), &head, sizeof head);
  return !to_show_.empty();
}

}  // namespace kforge
