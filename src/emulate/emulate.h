// Emulation is a build: CUDA C++ or MSL and a launch plan become one native library with the ordinary
// contract of kernels (task.h), which the ordinary runner loads and the ordinary gates judge.
// docs/emulator.md explains.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/failure.h"
#include "device/launch_plan.h"
#include "emulate/rewrite.h"
#include "emulate/variant.h"
#include "sandbox/sandbox.h"

namespace kforge::emulate {

struct DeviceSource {
  std::string name;  // "kernel.cu"; the main file first
  std::string content;
};

struct Request {
  Language language = Language::kCuda;
  std::vector<DeviceSource> files;
  std::string task_header;  // task.h
  LaunchPlan plan;
  std::vector<bool> params;  // which of its tensors are
  Variant variant = Variant::kFast;
  std::vector<std::string> flags;  // "-DNAME=1"
  SandboxTier tier = SandboxTier::kBubblewrap;
  double timeout_seconds = 60;
};

struct Library {
  std::string content;  // of the shared library
  std::string log;      // warnings
  std::vector<std::string> command;
  double seconds = 0;
};

// The compiler that emulation needs: clang 15 or later. An Error says what to install.
Result<std::filesystem::path> compiler();

// Fails with CompileError, NotVerifiable (it uses what the emulator has not), Rejected (gate "symbols") or
// Timeout. Not cached: the caller knows by what it would be.
Step<Library> build(const Request& request);

// Changes whenever the emulator does: part of a cache's key.
Result<std::string> identity();

}  // namespace kforge::emulate
