// What kforge-call is told: one line per tensor, in C order, in a text file. The values lie in one file (fd
// 3).
//   param|input|inout|output  OFFSET  BYTES
// Lives beside the caller so that the one who writes it and the one who reads it agree.
#pragma once

namespace kforge::caller {

inline constexpr int kTensorFd = 3;
inline constexpr int kMostTensors = 1024;
// With --wait: this byte on this descriptor means begin, for profilers that attach first.
inline constexpr int kGoFd = 4;
inline constexpr char kGo = 'g';
// With --mark: the first argument of a system call that means nothing but this.
inline constexpr unsigned long kMark = 0x6b666f7267654d6b;

}  // namespace kforge::caller
