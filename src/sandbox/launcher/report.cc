#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/launcher/steps.h"

namespace kforge::launcher {
namespace {

void append(char* text, size_t room, const char* more) {
  size_t used = ::strlen(text);
  size_t length = ::strlen(more);
  if (length > room - used - 1) length = room - used - 1;
  ::memcpy(text + used, more, length);
  text[used + length] = 0;
}

}  // namespace

void send_report(const Plan& plan, LaunchReport report) {
  // KForge may be gone; then nobody needs the report.
  while (::send(plan.control(), &report, sizeof report, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

void die(const Plan& plan, const char* step, const char* object) {
  const char* why = ::strerror(errno);
  LaunchReport report{.event = LaunchEvent::kFailed};
  append(report.text, sizeof report.text, step);
  if (object[0]) append(report.text, sizeof report.text, " ");
  append(report.text, sizeof report.text, object);
  append(report.text, sizeof report.text, ": ");
  append(report.text, sizeof report.text, why);
  send_report(plan, report);
  ::_exit(kLauncherFailed);
}

}  // namespace kforge::launcher
