// Runs one untrusted program (a compiler on hostile source, a candidate, a device driver with a candidate) so
// that it can reach nothing but what is listed here. docs/security.md explains the layers.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace kforge {

enum class SandboxTier : std::uint8_t {
  kBubblewrap,  // own mount, pid, net, ipc, uts and user namespaces + seccomp + rlimits
  kLandlock,    // where user namespaces are forbidden: Landlock + seccomp + rlimits
  kNone,        // only with --no-sandbox
};
std::string_view name_of(SandboxTier tier);  // "bubblewrap", "landlock", "none"

// What the program may do beyond computing; one source file each.
enum class SandboxProfile : std::uint8_t {
  kCompile,  // exec and fork, write in `writable`; no network
  kNative,   // the runner: it installs load_filter() before, and run_filter() after loading the candidate
  kDriver,   // executable memory and threads allowed (JIT drivers, qemu, commands), no network
  kDesktop,  // a tool with a window on a virtual screen: as kDriver, and sockets of its own namespace
             // (bubblewrap only)
};
std::string_view name_of(SandboxProfile profile);

struct SandboxLimits {
  std::chrono::milliseconds wall{60'000};  // then the whole group is killed
  std::uint64_t cpu_seconds = 120;
  std::uint64_t memory_bytes = 8ull << 30;  // address space of each process, and what all hold together
  // Drivers of GPUs reserve more addresses than any machine has memory: only what is held is limited then.
  bool reserves_addresses = false;
  std::uint64_t file_bytes = 256ull << 20;  // largest file it may write
  std::uint64_t folder_bytes = 2ull << 30;  // all files in `writable` together, looked at five times a second
  std::uint64_t processes = 64;             // processes and threads (not limited in tier kNone)
  std::size_t output_bytes = 256 << 10;     // kept of stdout and of stderr; the rest is dropped
  bool control_groups = true;               // where they can be made; else sums are looked at from outside
};

// Paths inside equal paths outside. As root the program runs under an unallocated uid of its own, so files it
// is to read must be readable for everybody, down from the root: stage them in a TempDir of mode 0755, not in
// kforge_home(). Only argv[0] may lie behind closed folders. `writable` is given to that uid; what is found
// in it afterwards is the program's work: hostile names, links and sizes included (read_product).
struct SandboxSpec {
  SandboxProfile profile = SandboxProfile::kNative;
  std::vector<std::string> argv;                // argv[0] is an absolute path, readable inside
  std::vector<std::filesystem::path> readable;  // besides the system's read-only /usr, /lib*, /bin,
                                                // /etc/alternatives; below /dev: devices to use
  std::filesystem::path writable;               // one folder; empty: none. It is also the working folder.
  std::map<std::string, std::string> env;  // the whole environment; TMPDIR=writable is added where not named
  std::vector<int> fds;                    // inherited as 3, 4, ... in this order
  std::vector<int> cpus;                   // affinity; empty: unchanged
  SandboxLimits limits;
};

// How a program ended.
struct SandboxExit {
  int exit_code = 0;  // meaningful when signal == 0
  int signal = 0;     // as the program got it, whatever wrapper stood between
  bool wall_exceeded = false;
  bool folder_exceeded = false;  // it was killed for writing more than limits.folder_bytes
  bool memory_exceeded = false;  // or because its processes held more than limits.memory_bytes together
  bool output_truncated = false;
  bool left_processes = false;  // others were alive when the program ended; they were killed
  std::string out, err;
  rusage usage{};
};

class SandboxedProcess {
 public:
  virtual ~SandboxedProcess() = default;  // kills the whole group and reaps it

  // Host pid of the program itself (not of a wrapper). Known once it runs; 0 before.
  virtual pid_t pid() const = 0;
  // SIGSTOP to every thread of the program. send_stop() reaches those that were there the last time, and
  // thereby, a moment later, the others; stop() returns when all are stopped, with the time at which the last
  // signal was sent: none of its code runs after that. Nothing: they could not be stopped.
  virtual void send_stop() = 0;
  virtual std::optional<std::chrono::steady_clock::time_point> stop() = 0;
  virtual void resume() = 0;
  // Waits until the program ends or its wall limit passes. Output needs no reader meanwhile: it never blocks.
  virtual Result<SandboxExit> wait() = 0;
  // Not blocking: true when it has ended (wait() then returns at once).
  virtual bool ended() = 0;
  virtual void kill() = 0;
  // Processes of the program still alive besides itself (leftovers of a fork); 0 is the honest answer.
  virtual int other_processes() const = 0;
  // What binds the group besides the tier: "rlimits, cgroup pids, cgroup memory".
  virtual std::string group_limits() const = 0;
};

// The strongest tier that works here, found by trying each once per process. An Error says what to install.
Result<SandboxTier> strongest_tier();
// Why a tier does not work here; nothing when it does.
std::optional<std::string> tier_unavailable(SandboxTier tier);

Result<std::unique_ptr<SandboxedProcess>> start_sandboxed(const SandboxSpec& spec, SandboxTier tier);

// A file that an ended program left directly in its folder: plain files only, no links, no more than `limit`
// bytes.
Result<std::string> read_product(const std::filesystem::path& folder, const std::string& name,
                                 std::size_t limit);

// Programs for seccomp(2) as the runner takes them (an array of struct sock_filter in a sealed memfd).
// load_filter: no exec, no new process, no network, no writing opens. run_filter: in addition no opens at all
// and no executable mappings. A forbidden call raises SIGSYS (the runner reports its number); harmless ones
// get EPERM.
Result<Fd> load_filter();
Result<Fd> run_filter();
// "openat" for 257, for messages.
std::string syscall_name(int number);

}  // namespace kforge
