// A device program built by the emulator and loaded into the test itself: for trusted kernels. Libraries are
// kept between tests, by content.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/failure.h"
#include "emulate/emulate.h"

namespace kforge {

struct TestTensor {
  std::string name;
  DType dtype = DType::kFloat32;
  std::size_t elements = 0;
  bool output = false;
  bool param = false;
};

struct TestProgram {
  emulate::Language language = emulate::Language::kCuda;
  std::string source;
  std::string plan;
  std::vector<TestTensor> tensors;
  emulate::Variant variant = emulate::Variant::kFast;
};

// The request for the emulator; fails the test where the plan is wrong.
emulate::Request request_for(const TestProgram& program);
Step<std::string> build_library(const emulate::Request& request);  // path, from the cache or built now

// The functions of a loaded library, called as the runner would.
class LoadedProgram {
 public:
  // Aborts the test with the reason where it cannot be built.
  explicit LoadedProgram(const TestProgram& program);
  explicit LoadedProgram(const emulate::Request& request);
  ~LoadedProgram();
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;
  // One pointer for each tensor, in order; `report` for the variants that look.
  void call(const std::vector<void*>& tensors, void* report = nullptr);

 private:
  void* library_ = nullptr;
  std::vector<bool> params_;
  bool reports_ = false;
};

std::string test_file(const std::string& name);  // below tests/emulate/

}  // namespace kforge
