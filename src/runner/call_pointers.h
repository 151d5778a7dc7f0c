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
// A function that passes exactly `count` pointers. REQUIRES: count <= Most.
template <size_t Most>
Caller caller_of(size_t count) {
  return caller_from(count, std::make_index_sequence<Most + 1>());
}

}  // namespace kforge::runner
