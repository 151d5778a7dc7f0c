#include "execute/held_memory.h"

#include <mutex>
#include <set>

#include "execute/process_status.h"

namespace kforge {
namespace {

std::mutex living_mutex;
std::set<pid_t>& living() {
  static std::set<pid_t> programs;
  return programs;
}

}  // namespace

HeldMemory::HeldMemory(pid_t program) : program_(program) {
  std::lock_guard lock(living_mutex);
  living().insert(program);
}

HeldMemory::~HeldMemory() {
  std::lock_guard lock(living_mutex);
  living().erase(program_);
}

std::size_t HeldMemory::bytes() const { return status_bytes(program_, "RssAnon:"); }

std::size_t HeldMemory::bytes_together() {
  std::lock_guard lock(living_mutex);
  std::size_t sum = 0;
  for (pid_t program : living()) sum += status_bytes(program, "RssAnon:");
  return sum;
}

}  // namespace kforge
