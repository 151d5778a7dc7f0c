// Calling a function with as many pointers as a task has tensors.
#pragma once

#include <stddef.h>

#include <utility>

namespace kforge::runner {

using AnyFunction = void (*)();
// What the function returns means something only for prepare.
using Caller = void* (*)(AnyFunction function, void* const* pointers);

template <size_t>
using Pointer = void*;

template <size_t... I>
void* call_with(AnyFunction function, void* const* pointers, std::index_sequence<I...>) {
  return reinterpret_cast<void* (*)(Pointer<I>...)>(function)(pointers[I]...);
}
template <size_t Count>
void* call_exactly(AnyFunction function, void* const* pointers) {
  return call_with(function, pointers, std::make_index_sequence<Count>());
}

template <size_t... Count>
Caller caller_from(size_t count, std::index_sequence<Count...>) {
  static const Caller callers[] = {call_exactly<Count>...};
  return callers[count];
}

inline constexpr size_t kExactPointers = 65;  // 64 tensors and the state
inline constexpr size_t kMostPointers =
    1025;  // 1024 tensors and the state; compilers take quadratic time over more

// How many pointers are passed where a function takes `count`. Whole models have hundreds of weights, and a
// caller for every count would be larger than all the rest: there are a few, and what follows the last
// argument is null. A function does not see it: in every calling convention that KForge builds for, the first
// arguments lie where they lie without the others, and the caller removes them. REQUIRES: count <=
// kMostPointers.
constexpr size_t passed_pointers(size_t count) {
  if (count <= kExactPointers) return count;
  for (size_t size : {size_t{128}, size_t{256}, size_t{512}})
    if (count <= size) return size;
  return kMostPointers;
}

// A function that passes passed_pointers(count) pointers.
inline Caller caller_of(size_t count) {
  switch (passed_pointers(count)) {
    case 128:
      return call_exactly<128>;
    case 256:
      return call_exactly<256>;
    case 512:
      return call_exactly<512>;
    case kMostPointers:
      return call_exactly<kMostPointers>;
    default:
      return caller_from(count, std::make_index_sequence<kExactPointers + 1>());
  }
}

}  // namespace kforge::runner
