// A program behind kforge-launch, seen from KForge.
#pragma once

#include <memory>

#include "sandbox/capture.h"
#include "sandbox/launch_plan.h"
#include "sandbox/sandbox.h"

namespace kforge {

class LaunchedProcess : public SandboxedProcess {
 public:
  // `control` is KForge's end of the launcher's socket. Waits until the program is executing.
  static Result<std::unique_ptr<SandboxedProcess>> take_over(pid_t launcher, Fd control, OutputCapture out,
                                                             OutputCapture err, const SandboxLimits& limits);
  ~LaunchedProcess() override;

  pid_t pid() const override { return program_; }
  void send_stop() override;
  std::optional<std::chrono::steady_clock::time_point> stop() override;
  void resume() override;
  Result<SandboxExit> wait() override;
  bool ended() override;
  void kill() override;
  int other_processes() const override;
  std::string group_limits() const override;

 private:
  LaunchedProcess(pid_t launcher, Fd control, OutputCapture out, OutputCapture err,
                  const SandboxLimits& limits);
  Result<void> await_running();
  // Takes one packet; false at the end of the conversation or when none came within the time.
  bool receive(LaunchReport& report, pid_t& sender, int timeout_ms);
  bool take_exit(int timeout_ms);
  void signal(int number) const;
  void end_launcher();

  pid_t launcher_;
  pid_t parent_of_program_ = 0;  // the launcher, or its copy that is pid 1 inside
  pid_t program_ = 0;
  std::vector<pid_t> tasks_;  // its threads, as stop() found them last
  Fd program_handle_;         // pidfd: signals never reach a stranger with a reused pid
  Fd control_;
  OutputCapture out_, err_;
  SandboxLimits limits_;
  std::chrono::steady_clock::time_point started_;
  unsigned cgroups_ = 0;
  bool has_exit_ = false;
  bool lost_ = false;  // the launcher ended without a report
  LaunchReport exit_{};
  std::optional<SandboxExit> done_;  // what wait() returned
};

}  // namespace kforge
