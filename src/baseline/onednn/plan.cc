#include "baseline/onednn/plan.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "baseline/onednn/builder.h"

namespace kforge::onednn {

std::unique_ptr<std::byte, void (*)(void*)> allocate(std::size_t bytes) {
  constexpr std::size_t kHuge = std::size_t{2} << 20;
  std::size_t align = bytes >= kHuge ? kHuge : 64;
  bytes = (std::max<std::size_t>(bytes, 1) + align - 1) / align * align;
  void* memory = std::aligned_alloc(align, bytes);
  if (!memory) throw std::bad_alloc();
  if (align == kHuge) ::madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 0, bytes);
  return {static_cast<std::byte*>(memory), std::free};
}

const dnnl::engine& engine() {
  static const dnnl::engine only(dnnl::engine::kind::cpu, 0);
  return only;
}

dnnl::stream& stream() {
  static dnnl::stream only(engine());
  return only;
}

Result<std::unique_ptr<Plan>> Plan::make(const BoundTask& task) {
  auto plan = std::make_unique<Plan>();
  try {
    Builder builder(task, *plan);
    builder.build();
    plan->pointers_ = std::make_unique<Pointers>(plan->buffers_.size());
    plan->place_temporaries();
  } catch (const Unsupported& why) {
    return fail("{}", why.what());
  } catch (const dnnl::error& why) {
    return fail("oneDNN refuses: {}", why.message);
  } catch (const std::bad_alloc&) {
    return fail("not enough memory for the intermediate tensors");
  }
  return plan;
}

// Intermediates get offsets in one block: those alive at the same time must not overlap. Large ones first,
// each at the lowest place that is free during its life.
void Plan::place_temporaries() {
  struct Life {
    std::size_t buffer, first, last, offset = 0;
  };
  std::vector<Life> lives;
  for (std::size_t b = 0; b < buffers_.size(); ++b) {
    Buffer& buffer = buffers_[b];
    if (buffer.kind == Buffer::Kind::kPrepared) {
      owned_.push_back(allocate(buffer.bytes));
      (*pointers_)[b] = owned_.back().get();
    } else if (buffer.kind == Buffer::Kind::kConstant) {
      owned_.push_back(allocate(buffer.bytes));
      (*pointers_)[b] = owned_.back().get();
      std::memcpy(owned_.back().get(), buffer.constant->data.data(),
                  std::min(buffer.bytes, buffer.constant->data.size()));
    } else if (buffer.kind == Buffer::Kind::kTemporary) {
      Life life{b, steps_.size(), 0};
      for (std::size_t s = 0; s < steps_.size(); ++s)
        if (std::ranges::find(steps_[s].touches, static_cast<int>(b)) != steps_[s].touches.end()) {
          life.first = std::min(life.first, s);
          life.last = s;
        }
      if (life.first < steps_.size()) lives.push_back(life);
    }
  }
  std::ranges::stable_sort(lives, [&](const Life& a, const Life& b) {
    return buffers_[a.buffer].bytes > buffers_[b.buffer].bytes;
  });
  constexpr std::size_t kAlign = 4096;
  auto padded = [&](const Life& life) {
    return (buffers_[life.buffer].bytes + kAlign - 1) / kAlign * kAlign;
  };
  std::size_t total = 0;
  std::vector<Life*> placed;  // by offset
  for (Life& life : lives) {
    std::size_t at = 0;
    for (const Life* other : placed) {
      if (other->last < life.first || other->first > life.last) continue;
      if (other->offset >= at + padded(life)) break;
      at = std::max(at, other->offset + padded(*other));
    }
    life.offset = at;
    total = std::max(total, at + padded(life));
    placed.insert(std::ranges::upper_bound(placed, at, {}, [](const Life* l) { return l->offset; }), &life);
  }
  owned_.push_back(allocate(total));
  for (const Life& life : lives) (*pointers_)[life.buffer] = owned_.back().get() + life.offset;
}

void Plan::place_arguments(const std::vector<std::byte*>& arguments) {
  for (std::size_t b = 0; b < buffers_.size(); ++b)
    if (buffers_[b].kind == Buffer::Kind::kArgument) (*pointers_)[b] = arguments[buffers_[b].argument];
}

void Plan::prepare(const std::vector<std::byte*>& arguments) {
  place_arguments(arguments);
  for (const Step& step : prepare_steps_) step.run(*pointers_);
}

void Plan::call(const std::vector<std::byte*>& arguments) {
  place_arguments(arguments);
  for (const Step& step : steps_) step.run(*pointers_);
}

void Plan::call_timed(const std::vector<std::byte*>& arguments, std::vector<std::vector<double>>& samples) {
  place_arguments(arguments);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    auto start = std::chrono::steady_clock::now();
    steps_[i].run(*pointers_);
    samples[i].push_back(
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
  }
}

std::string Plan::print() const {
  std::string text;
  for (const Step& step : prepare_steps_) text += "prepare  " + step.what + "\n";
  for (const Step& step : steps_) text += "call     " + step.what + "\n";
  return text;
}

}  // namespace kforge::onednn
