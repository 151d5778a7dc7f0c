#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/launcher/steps.h"

namespace kforge::launcher {
namespace {

// Takes `count` strings from the text at `at` and ends the list with a null pointer, as exec wants it.
char** take_strings(char*& at, const char* end, uint32_t count) {
  char** list = static_cast<char**>(::calloc(count + 1, sizeof(char*)));
  if (!list) ::_exit(kLauncherFailed);
  for (uint32_t i = 0; i < count; ++i) {
    char* stop = static_cast<char*>(::memchr(at, 0, static_cast<size_t>(end - at)));
    if (!stop) ::_exit(kLauncherFailed);
    list[i] = at;
    at = stop + 1;
  }
  return list;
}

}  // namespace

Plan read_plan(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || info.st_size < static_cast<off_t>(sizeof(LaunchPlan)))
    ::_exit(kLauncherFailed);
  size_t size = static_cast<size_t>(info.st_size);
  // Private and writable only because exec's argument types are not const.
  void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) ::_exit(kLauncherFailed);
  auto* head = static_cast<const LaunchPlan*>(data);
  if (head->version != kLaunchPlanVersion || head->bytes != size) ::_exit(kLauncherFailed);
  char* at = static_cast<char*>(data) + sizeof(LaunchPlan);
  const char* end = static_cast<char*>(data) + size;
  Plan plan;
  plan.head = head;
  plan.wrapper_argv = take_strings(at, end, head->wrapper_argc);
  plan.argv = take_strings(at, end, head->argc);
  plan.env = take_strings(at, end, head->envc);
  plan.readable = take_strings(at, end, head->readable);
  plan.writable = take_strings(at, end, 1)[0];
  return plan;
}

}  // namespace kforge::launcher
