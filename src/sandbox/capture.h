// What a program prints, caught in a memory file of fixed size. Nobody has to read while it runs: when the
// file is full, further writes fail in the program (EPERM) and block nobody, so a flood costs neither time
// nor memory.
#pragma once

#include <cstddef>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace kforge {

class OutputCapture {
 public:
  static Result<OutputCapture> create(std::size_t limit);

  int fd() const { return file_.get(); }
  std::string text() const;  // what was printed so far
  bool full() const;         // something was probably dropped

 private:
  std::size_t written() const;

  Fd file_;
  std::size_t limit_ = 0;
};

}  // namespace kforge
