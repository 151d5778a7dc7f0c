// A kernel file around one contraction, for uses and tests outside of a larger program.
#include <fmt/format.h>

#include <algorithm>

#include "smith/contract/contraction_code.h"

namespace kforge::smith {

Finish plain_store(std::string pointer, long batch_stride, long row_stride) {
  return [=](const FinishSite& site) {
    const std::string at =
        fmt::format("{}{} + row * {} + column", pointer,
                    batch_stride ? fmt::format(" + batch * {}", batch_stride) : "", row_stride);
    if (site.lanes == 1) return fmt::format("*({}) = sum;", at);
    if (site.stream && site.lanes == 4) return fmt::format("_mm_stream_ps({}, sum);", at);
    if (site.stream && site.lanes == 8) return fmt::format("_mm256_stream_ps({}, sum);", at);
    if (site.stream && site.lanes == 16) return fmt::format("_mm512_stream_ps({}, sum);", at);
    return fmt::format("store_vec({}, sum);", at);
  };
}

std::string whole_program(const ContractionCode& code, const std::vector<Tensor>& arguments,
                          const std::vector<std::string>& params, const std::vector<Tensor>& tensors) {
  std::string prepare_list, run_list, saved, save, all;
  const auto is_param = [&](const std::string& name) {
    return std::find(params.begin(), params.end(), name) != params.end();
  };
  const auto append = [](std::string& list, const std::string& item) {
    list += (list.empty() ? "" : ", ") + item;
  };
  for (const Tensor& argument : arguments) {
    if (is_param(argument.name)) {
      append(prepare_list, argument.type + " " + argument.name);
      saved += fmt::format("  {} {};\n", argument.type, argument.name);
      save += fmt::format("  state->{0} = {0};\n", argument.name);
    } else {
      run_list += fmt::format(", {} {}", argument.type, argument.name);
    }
  }
  std::string prepare_tensors;
  for (const Tensor& tensor : tensors) {
    append(all, is_param(tensor.name) ? "state->" + tensor.name : tensor.name);
    append(prepare_tensors, is_param(tensor.name) ? tensor.name : "nullptr");
  }
  return fmt::format(R"(#include <sys/mman.h>

#include "task.h"

namespace {{

{0}
// What lives from prepare() to release(): packed params and scratch memory, on huge pages where the system has them.
struct State {{
{1}  float* memory;
}};
constexpr size_t kFloats = {2}::kPreparedFloats + {2}::kScratchFloats + 64;
constexpr size_t kBytes = (kFloats * sizeof(float) + (2 << 20) - 1) >> 21 << 21;

}}  // namespace

extern "C" void* prepare({3}) {{
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, kBytes, MADV_HUGEPAGE);
  State* state = new State{{}};
  state->memory = static_cast<float*>(memory);
{4}{5}  return state;
}}

extern "C" void kernel_prepared(void* opaque{6}) {{
  State* state = static_cast<State*>(opaque);
  {2}::run({{{7}}}, state->memory, state->memory + {2}::kPreparedFloats);
}}

extern "C" void release(void* opaque) {{
  State* state = static_cast<State*>(opaque);
  munmap(state->memory, kBytes);
  delete state;
}}
)",
                     code.definitions, saved, code.name, prepare_list, save,
                     code.prepared_floats > 0
                         ? fmt::format("  {}::prepare({{{}}}, state->memory);\n", code.name, prepare_tensors)
                         : "",
                     run_list, all);
}

}  // namespace kforge::smith
