#include "execute/quiet_time.h"

#include <condition_variable>
#include <mutex>

namespace kforge {
namespace {

struct Quiet {
  std::mutex mutex;
  std::condition_variable_any changed;
  int times = 0;                         // that are under way
  bool taken = false;                    // the place
  SandboxedProcess* starting = nullptr;  // in it
};

Quiet& quiet() {
  static auto* one = new Quiet;  // threads may outlive main()
  return *one;
}

}  // namespace

QuietTime::QuietTime() {
  std::lock_guard lock(quiet().mutex);
  if (quiet().times++ == 0 && quiet().starting) quiet().starting->stop();
}

QuietTime::~QuietTime() {
  std::lock_guard lock(quiet().mutex);
  if (--quiet().times > 0) return;
  if (quiet().starting) quiet().starting->resume();
  quiet().changed.notify_all();
}

BackgroundStart::BackgroundStart(const std::stop_token& stop) {
  std::unique_lock lock(quiet().mutex);
  granted_ = quiet().changed.wait(lock, stop, [] { return quiet().times == 0 && !quiet().taken; }) &&
             !stop.stop_requested();
  if (granted_) quiet().taken = true;
}

BackgroundStart::~BackgroundStart() {
  if (!granted_) return;
  release();
  std::lock_guard lock(quiet().mutex);
  quiet().taken = false;
  quiet().changed.notify_all();
}

void BackgroundStart::watch(SandboxedProcess& process) {
  std::lock_guard lock(quiet().mutex);
  process_ = quiet().starting = &process;
  if (quiet().times > 0) process.stop();
}

void BackgroundStart::release() {
  std::lock_guard lock(quiet().mutex);
  if (!process_) return;
  if (quiet().times > 0) process_->resume();  // it waits for a command, or is about to end
  process_ = quiet().starting = nullptr;
}

}  // namespace kforge
