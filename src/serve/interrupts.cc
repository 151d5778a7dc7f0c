#include "serve/interrupts.h"

#include "base/files.h"
#include "base/lock_holder.h"

namespace kforge::serve {
namespace {

std::string holder_in(const fs::path& lock) {
  return lock.string() + "\n" + read_file(lock, 100).value_or("");
}

}  // namespace

Result<void> Interrupts::ask(const fs::path& lock) {
  std::lock_guard alone(mutex_);
  const std::string holder = holder_in(lock);
  if (done_.contains(holder) && FileLock::held(lock)) return {};
  KF_TRY_VOID(interrupt_lock_holder(lock));
  done_.insert(holder);
  return {};
}

bool Interrupts::asked(const fs::path& lock) {
  std::lock_guard alone(mutex_);
  return done_.contains(holder_in(lock));
}

}  // namespace kforge::serve
