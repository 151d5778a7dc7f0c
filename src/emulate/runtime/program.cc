// The steps of a plan, in order, on memory of the caller and of the plan's own.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "checks.h"
#include "kforge/program_api.h"
#include "worker.h"

namespace kfe {
namespace {

constexpr uint64_t kGuard = 64 << 10;

// A buffer that ends at a page nobody may touch (up to alignment), after one that nobody may touch.
struct Buffer {
  void* mapping = nullptr;
  uint64_t mapped = 0;
  void* data = nullptr;
};

Buffer make_buffer(uint64_t bytes) {
  const uint64_t inside = (bytes + kGuard - 1) / kGuard * kGuard;
  Buffer buffer;
  buffer.mapped = inside + 2 * kGuard;
  buffer.mapping =
      mmap(nullptr, buffer.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (buffer.mapping == MAP_FAILED) abort();
  char* usable = static_cast<char*>(buffer.mapping) + kGuard;
  if (inside && mmap(usable, inside, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
    abort();
  buffer.data = usable + (inside - bytes) / 64 * 64;
  return buffer;
}

// The plan's own buffers, of one kind.
struct Buffers {
  const KfeProgram* program;
  uint32_t prepared;
  Buffer* buffer;

  void make(const KfeProgram& of, bool prepared_ones) {
    program = &of;
    prepared = prepared_ones;
    buffer = static_cast<Buffer*>(calloc(of.memories + 1, sizeof(Buffer)));
    for (uint32_t i = 0; i < of.memories; ++i)
      if (mine(i)) buffer[i] = make_buffer(of.memory[i].bytes);
  }
  bool mine(uint32_t i) const {
    return !program->memory[i].tensor && program->memory[i].prepared == prepared;
  }
  void poison(int with) const {
    for (uint32_t i = 0; i < program->memories; ++i)
      if (mine(i)) memset(buffer[i].data, with, program->memory[i].bytes);
  }
  void add_to(void** memory) const {
    for (uint32_t i = 0; i < program->memories; ++i)
      if (mine(i)) memory[i] = buffer[i].data;
  }
  void destroy() {
    for (uint32_t i = 0; i < program->memories; ++i)
      if (buffer[i].mapping) munmap(buffer[i].mapping, buffer[i].mapped);
    free(buffer);
  }
};

// What prepare hands to the calls.
struct State {
  Buffers buffers;
  void** tensors;
};

Buffers own __attribute__((section("kfe_state")));  // private to a call, made at the first

void fill(void* data, uint64_t bytes, uint32_t element, uint64_t pattern) {
  auto* out = static_cast<char*>(data);
  for (uint64_t i = 0; i + element <= bytes; i += element) memcpy(out + i, &pattern, element);
}

void launch(const KfeProgram& program, const KfeStep& step, void* const* memory) {
  KfeArgument arguments[2 * kMostArguments];  // and the scalars that go by address
  for (uint32_t i = 0; i < step.count && i < kMostArguments; ++i) {
    const KfePlanArgument& from = step.arguments[i];
    if (from.memory >= 0)
      arguments[i].pointer = static_cast<char*>(memory[from.memory]) + from.value;
    else if (from.wide)
      arguments[i].real = from.real;
    else
      arguments[i].integer = from.value;
    if (from.memory < 0 && program.by_address) {
      arguments[kMostArguments + i] = arguments[i];
      arguments[i].pointer = &arguments[kMostArguments + i];
    }
  }
  Launch launch{};
  launch.step = &step;
  launch.arguments = arguments;
  launch.grid = step.grid;
  launch.block = step.block;
  launch.threads = step.threads;
  if (launch.threads.x == 0)
    launch.threads = {step.grid.x * step.block.x, step.grid.y * step.block.y, step.grid.z * step.block.z};
  launch.blocks = uint64_t{step.grid.x} * step.grid.y * step.grid.z;
  forget_sites();
  checks::launch_begins(program, step, memory);
  run_launch(launch);
  checks::launch_ends();
}

void follow(const KfeProgram& program, const KfeStep* steps, uint32_t count, void* const* memory) {
  for (uint32_t i = 0; i < count; ++i) {
    const KfeStep& step = steps[i];
    if (step.kind == KfeStep::kLaunch)
      launch(program, step, memory);
    else if (step.kind == KfeStep::kFill)
      fill(memory[step.memory], program.memory[step.memory].bytes, program.memory[step.memory].element,
           step.pattern);
    else
      memmove(memory[step.memory], memory[step.from], step.bytes);
    if (step.kind != KfeStep::kLaunch)
      checks::moved(step.kind == KfeStep::kFill ? program.memory[step.memory].bytes : 2 * step.bytes);
  }
}

}  // namespace
}  // namespace kfe

extern "C" {

void* kfe_prepare(const KfeProgram* program, void* const* tensors) {
  auto* state = static_cast<kfe::State*>(calloc(1, sizeof(kfe::State)));
  if (!state) abort();
  state->buffers.make(*program, true);
  state->buffers.poison(kfe::kPoison);
  state->tensors = static_cast<void**>(calloc(program->memories + 1, sizeof(void*)));
  if (!state->tensors) abort();
  for (uint32_t i = 0; i < program->memories; ++i)
    if (program->memory[i].tensor) state->tensors[i] = tensors[i];
  state->buffers.add_to(state->tensors);
  kfe::follow(*program, program->prepare, program->prepares, state->tensors);
  return state;
}

void kfe_run(const KfeProgram* program, void* const* tensors, void* given, void* report) {
  auto* state = static_cast<kfe::State*>(given);
  if (!kfe::own.buffer) kfe::own.make(*program, false);
  void** memory = static_cast<void**>(alloca((program->memories + 1) * sizeof(void*)));
  for (uint32_t i = 0; i < program->memories; ++i) {
    memory[i] = state ? state->tensors[i] : nullptr;
    if (program->memory[i].tensor && tensors[i]) memory[i] = tensors[i];
  }
  kfe::own.add_to(memory);
  kfe::checks::call_begins(*program, report);
  kfe::own.poison(kfe::checks::poison());
  kfe::follow(*program, program->run, program->runs, memory);
  kfe::checks::hand_over(report);
}

__attribute__((destructor)) static void kfe_unload() {
  if (kfe::own.buffer) kfe::own.destroy();
}

void kfe_release(const KfeProgram*, void* given) {
  auto* state = static_cast<kfe::State*>(given);
  if (!state) return;
  state->buffers.destroy();
  free(static_cast<void*>(state->tensors));
  free(state);
}

}  // extern "C"
