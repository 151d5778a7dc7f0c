// Builds seccomp filters with libseccomp and exports them as the kernel takes them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "sandbox/sandbox.h"

namespace kforge {

// One condition on an argument of a call: (argument & mask) == value.
struct ArgumentIs {
  unsigned argument;
  std::uint64_t mask;
  std::uint64_t value;
};

class Filter {
 public:
  enum class Default : std::uint8_t { kAllow, kRefuse };  // refuse: EPERM
  explicit Filter(Default otherwise);
  ~Filter();
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  // Names this architecture does not have are left out: there is nothing to allow or to refuse.
  Filter& allow(std::initializer_list<std::string_view> calls);
  Filter& allow_if(std::string_view call, std::initializer_list<ArgumentIs> all);
  Filter& refuse(std::initializer_list<std::string_view> calls, int error);
  Filter& refuse_if(std::string_view call, std::initializer_list<ArgumentIs> all, int error);
  // Raises SIGSYS in the calling thread: a hostile call ends the program and is reported by name.
  Filter& trap(std::initializer_list<std::string_view> calls);
  Filter& trap_if(std::string_view call, std::initializer_list<ArgumentIs> all);

  // The BPF program in a sealed memfd. The first rule that could not be added is the error.
  Result<Fd> export_sealed();

 private:
  Filter& add(std::uint32_t action, std::string_view call, std::initializer_list<ArgumentIs> all);

  void* context_;
  std::uint32_t otherwise_;
  std::string problem_;
};

// Building a filter takes milliseconds and always gives the same: made once per process, handed out as copies
// of the descriptor.
class FilterOnce {
 public:
  template <class Build>
  Result<Fd> get(Build&& build) {
    std::call_once(once_, [&] { filter_ = build(); });
    return copy();
  }

 private:
  Result<Fd> copy() const;

  std::once_flag once_;
  Result<Fd> filter_;
};

// Calls that no sandboxed program needs and that reach far into the kernel or other processes: refused
// (EPERM) in every profile. Creating namespaces and sockets is among them.
void refuse_kernel_surface(Filter& filter);
// The same but for sockets, for programs that talk to each other inside a network namespace of their own.
void refuse_kernel_surface_but_sockets(Filter& filter);
// Without a pid namespace a program could signal others of its user.
void refuse_signals_to_others(Filter& filter);

// The filter the launcher installs before the program starts; one source file per profile.
Result<Fd> compile_filter(SandboxTier tier);
Result<Fd> native_start_filter(SandboxTier tier);
Result<Fd> driver_filter(SandboxTier tier);
Result<Fd> desktop_filter(SandboxTier tier);

}  // namespace kforge
