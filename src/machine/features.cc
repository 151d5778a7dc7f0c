#include "machine/features.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace kforge {

bool survives(bool (*trial)()) {
  pid_t pid = ::fork();
  if (pid < 0) return false;
  if (pid == 0) {
    // The parent's handlers (a sanitizer's, a debugger's) must not turn the expected SIGILL into a report.
    for (int signal : {SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGTRAP, SIGALRM}) ::signal(signal, SIG_DFL);
    rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::prctl(PR_SET_DUMPABLE, 0);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::alarm(2);
    ::_exit(trial() ? 0 : 1);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::set<std::string> find_features() {
  std::set<std::string> found;
  for (const FeatureTrial& trial : feature_trials())
    if (survives(trial.run)) found.insert(trial.name);
  return found;
}

}  // namespace kforge
