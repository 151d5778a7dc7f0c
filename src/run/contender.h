// One program under measurement, behind the protocol of runner/protocol.h: the candidate in its sandbox, or a
// baseline. It computes only while the parent lets it: it is stopped the instant it reports done.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/failure.h"
#include "run/tensor_memory.h"
#include "sandbox/sandbox.h"

namespace kforge {

// How to start a contender. Baselines (trusted) use SandboxTier::kNone.
struct ContenderSpec {
  std::string name;                             // "candidate", "onednn", ...
  std::vector<std::string> argv;                // absolute program; speaks the protocol on fd 3
  std::vector<std::filesystem::path> readable;
  std::filesystem::path writable;
  std::map<std::string, std::string> env;       // complete; the thread variables are added by start()
  SandboxProfile profile = SandboxProfile::kNative;
  SandboxTier tier = SandboxTier::kNone;
  std::vector<int> extra_fds;                   // inherited as 4, 5, ...
  int threads = 1;
  std::vector<int> cpus;
  SandboxLimits limits;
};

struct CallTime {
  double parent_ns = 0;  // from just before the contender was let go to its report: the time that counts
  double claimed_ns = 0; // by the contender's own clock
};

struct Usage {
  double setup_ns = 0;           // prepare(): parent's wall time
  std::size_t setup_bytes = 0;   // growth of resident memory over prepare()
  std::size_t peak_bytes = 0;    // of resident memory, without the arenas' pages where the kernel can tell
  double cpu_seconds = 0;        // user + system, all threads, in the calls
  bool has_prepare = false;
};

class Contender {
 public:
  virtual ~Contender() = default;

  virtual const std::string& name() const = 0;
  // Runs the task once for each slot listed; blocks until done, then the contender is stopped.
  virtual Step<CallTime> call(const std::vector<std::uint32_t>& slots, std::chrono::milliseconds limit) = 0;
  // prepare() on the params now in the arena (again: after release).
  virtual Step<CallTime> prepare(std::chrono::milliseconds limit) = 0;
  virtual Usage usage() = 0;
  // Ends it in order; a process left over or a wrong exit is the candidate's failure.
  virtual Step<bool> finish() = 0;
};

// Starts the program, hands it the arenas and lets it load the candidate; prepare() is called once.
Step<std::unique_ptr<Contender>> start_contender(const ContenderSpec& spec, const InputMemory& inputs,
                                                 std::chrono::milliseconds load_limit);

}  // namespace kforge
