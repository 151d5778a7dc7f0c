// One program under measurement, behind the protocol of runner/protocol.h: the candidate in its sandbox, or a
// baseline. It computes only while the parent lets it: it is stopped the instant it reports done.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/failure.h"
#include "execute/tensor_memory.h"
#include "sandbox/sandbox.h"

namespace kforge {

class BackgroundStart;
class WaitingRunners;

// How to start a program. Baselines (trusted) use SandboxTier::kNone.
struct ProgramSpec {
  std::string name;               // "candidate", "onednn", ...
  std::vector<std::string> argv;  // absolute program; speaks the protocol on fd 3
  std::vector<std::filesystem::path> readable;
  std::filesystem::path writable;
  std::map<std::string, std::string> env;  // complete, but for the thread variables, which start() adds
  SandboxProfile profile = SandboxProfile::kNative;
  SandboxTier tier = SandboxTier::kNone;
  std::vector<int> extra_fds;  // inherited as 4, 5, ...
  bool starts_anew = false;    // each run is a process of its own: times are slopes over the number of calls
  int threads = 1;
  std::vector<std::string> thread_variables;  // besides OpenMP's and those of BLAS libraries
  bool scratch =
      false;  // it writes files: each process gets a folder of its own where it has no private /tmp
  std::vector<std::string> guarded;  // argv of the same program with a guarded heap; empty: there is none
  std::vector<int> cpus;
  SandboxLimits limits;
  std::uint64_t together_bytes = 0;         // that all programs alive may hold together; 0: nobody looks
  std::stop_token stop;                     // ends whatever it computes; the step is then an Error
  std::shared_ptr<WaitingRunners> waiting;  // processes of it that have started already; may be null
};

struct CallTime {
  double parent_ns = 0;   // from just before the program was let go to its report: the time that counts
  double claimed_ns = 0;  // by the program's own clock
  double device_ns = 0;   // by the device's, from the first start to the last end; 0: it has none
  double stated_ns =
      0;              // of one call, by a program that is started anew: shown, never used; 0: it says nothing
  double cpu_ns = 0;  // of all its threads
  // Ready to run, and no processor free, by the kernel's books:
  double delay_ns = 0;        // the parent and the program's first thread: nobody's clock knows of it
  double team_wait_ns = 0;    // the parent and that thread of the program which waited longest
  int computing_threads = 0;  // threads of the program that took part
};

struct Usage {
  double setup_ns = 0;          // prepare(): the parent's wall time
  std::size_t setup_bytes = 0;  // growth of anonymous memory over prepare()
  std::size_t peak_bytes = 0;   // largest resident memory, without the shared tensors
  bool has_prepare = false;
  bool has_transfers = false;  // its kernels run on a device, or it is started anew for every run
  bool starts_anew = false;    // ProgramSpec::starts_anew
};

class ProgramProcess {
 public:
  // Starts the program, hands it the memory and lets it load the candidate. The params may be filled later:
  // prepare() is not called yet. REQUIRES: `inputs` outlives the process.
  static Step<std::unique_ptr<ProgramProcess>> start(const ProgramSpec& spec, const BoundTask& task,
                                                     const InputMemory& inputs,
                                                     std::chrono::milliseconds load_limit);
  ~ProgramProcess();

  const std::string& name() const;
  // Its outputs and inouts: nobody else's, or those of all programs that take turns (InputMemory::outputs).
  const TensorMemory& outputs() const;

  // prepare() on the params now in memory (and release() of the state before it).
  Step<CallTime> prepare(std::chrono::milliseconds limit);
  // Runs the task once for each slot listed; when it returns, the program is stopped. Where the tensors have
  // to travel to a device and back, they do so outside the time.
  Step<CallTime> call(const std::vector<std::uint32_t>& slots, std::chrono::milliseconds limit);
  // A process of the same program that loads nothing, for echo() alone.
  static Result<std::unique_ptr<ProgramProcess>> start_idle(const ProgramSpec& spec,
                                                            std::chrono::milliseconds limit,
                                                            BackgroundStart* background = nullptr);
  // The wall time of a message and its answer with no work between: part of every call's time, and not the
  // kernel's.
  Result<double> echo_ns();
  // Lets its threads go on without a command for a while: an honest one has nothing left to do.
  void linger(std::chrono::milliseconds duration);
  const Usage& usage() const;
  // Ends it in order; a process left over or an exit that is not clean is the candidate's failure.
  Step<bool> finish();
  // What it wrote to standard error and to standard output, after finish() or when it has ended by itself.
  const std::string& said() const;
  const std::string& printed() const;

 private:
  struct State;
  explicit ProgramProcess(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kforge
