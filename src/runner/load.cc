// Loading a candidate: everything from dlopen on is hostile code, static initialisers included.
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "runner/runner_state.h"

namespace kforge::runner {
namespace {

AnyFunction find(void* library, const char* name) {
  return reinterpret_cast<AnyFunction>(dlsym(library, name));
}

void report_missing(void* library) {
  char text[1024];
  Candidate& found = runner_state.candidate;
  if (found.prepare || found.kernel_prepared) {
    snprintf(text, sizeof text,
             "%s was found but %s was not; the trio is prepare, kernel_prepared and (optional) release",
             found.prepare ? "prepare" : "kernel_prepared", found.prepare ? "kernel_prepared" : "prepare");
    return send_error(text);
  }
  const char* mangled = mangled_variant(library, "kernel");
  if (!mangled) mangled = mangled_variant(library, "kernel_prepared");
  snprintf(text, sizeof text, "no function kernel (extern \"C\") was found; %s%s%s",
           mangled ? "there is one with C++ linkage ("
                   : "define the function that task.h declares, and do not make it static",
           mangled ? mangled : "", mangled ? "): write extern \"C\" before it or include task.h" : "");
  send_error(text);
}

}  // namespace

void load() {
  if (runner_state.loaded) return send_error("a candidate is already loaded");
  runner_state.loaded = true;
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);  // what Landlock and seccomp ask for
  if (const char* problem = allow_only_candidate_file()) return send_error(problem);
  if (const char* problem = install_filter(runner_state.load_filter)) return send_error(problem);
  cpu_set_t processors;
  const bool known = sched_getaffinity(0, sizeof processors, &processors) == 0;
  void* library = dlopen(runner_state.path, RTLD_NOW | RTLD_LOCAL);
  // OpenMP binds the thread that loads it to one processor, and threads that it makes would all inherit that.
  if (known && library && starts_threads(library)) sched_setaffinity(0, sizeof processors, &processors);
  const char* why = library ? nullptr : dlerror();
  if (const char* problem = install_filter(runner_state.run_filter)) return send_error(problem);
  if (!library) return send_error("the candidate cannot be loaded: ", why ? why : "unknown reason");

  Candidate& found = runner_state.candidate;
  found.kernel = find(library, "kernel");
  found.prepare = find(library, "prepare");
  found.kernel_prepared = find(library, "kernel_prepared");
  found.release = find(library, "release");
  bool trio = found.prepare && found.kernel_prepared;
  if (!trio && !found.kernel) return report_missing(library);
  if (!trio) found.prepare = found.kernel_prepared = found.release = nullptr;
  send_done(trio ? KFORGE_HAS_PREPARE : 0, 0);
}

}  // namespace kforge::runner
