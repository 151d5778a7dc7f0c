#include "execute/quiet_time.h"

#include <condition_variable>
#include <mutex>
#include <set>

namespace kforge {
namespace {

struct Quiet {
  std::mutex mutex;
  std::condition_variable_any changed;
  int times = 0;                           // that are under way
  int hurries = 0;                         // of whoever waits for a process
  int starts = 0;                          // under way
  std::set<SandboxedProcess*> on_the_way;  // of these
};

Quiet& quiet() {
  static auto* one = new Quiet;  // threads may outlive main()
  return *one;
}

}  // namespace

QuietTime::QuietTime() {
  std::lock_guard lock(quiet().mutex);
  if (quiet().times++ > 0) return;
  for (SandboxedProcess* process : quiet().on_the_way) process->stop();
}

QuietTime::~QuietTime() {
  std::lock_guard lock(quiet().mutex);
  if (--quiet().times > 0) return;
  for (SandboxedProcess* process : quiet().on_the_way) process->resume();
  quiet().changed.notify_all();
}

Hurry::Hurry() {
  std::lock_guard lock(quiet().mutex);
  ++quiet().hurries;
  quiet().changed.notify_all();
}

Hurry::~Hurry() {
  std::lock_guard lock(quiet().mutex);
  --quiet().hurries;
}

BackgroundStart::BackgroundStart(const std::stop_token& stop) {
  std::unique_lock lock(quiet().mutex);
  auto may_start = [] { return quiet().times == 0 && (quiet().starts == 0 || quiet().hurries > 0); };
  granted_ = quiet().changed.wait(lock, stop, may_start) && !stop.stop_requested();
  quiet().starts += granted_;
}

BackgroundStart::~BackgroundStart() {
  if (!granted_) return;
  release();
  std::lock_guard lock(quiet().mutex);
  --quiet().starts;
  quiet().changed.notify_all();
}

void BackgroundStart::watch(SandboxedProcess& process) {
  std::lock_guard lock(quiet().mutex);
  process_ = &process;
  quiet().on_the_way.insert(process_);
  if (quiet().times > 0) process.stop();
}

void BackgroundStart::release() {
  std::lock_guard lock(quiet().mutex);
  if (!process_) return;
  if (quiet().times > 0) process_->resume();  // it waits for a command, or is about to end
  quiet().on_the_way.erase(process_);
  process_ = nullptr;
}

}  // namespace kforge
