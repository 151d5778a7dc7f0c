// Launches: the blocks of a grid over the processor's threads. Blocks start in the order of their numbers, so
// one that waits for a lower one gets its turn.
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "worker.h"

namespace kfe {
namespace {

constexpr int kMostHelpers = 7;

struct Helpers {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
  Launch* launch;
  uint64_t round;
  int count, asked, running;
  bool ending;
  pthread_t thread[kMostHelpers];
  Worker* worker[kMostHelpers];
  Worker* first;  // of the calling thread
} helpers __attribute__((section("kfe_state")));

void* help(void* argument) {
  auto* worker = static_cast<Worker*>(argument);
  uint64_t seen = 0;
  pthread_mutex_lock(&helpers.mutex);
  for (;;) {
    while (helpers.round == seen || helpers.asked == 0) {
      if (helpers.ending) {
        pthread_mutex_unlock(&helpers.mutex);
        return nullptr;
      }
      if (helpers.round != seen) seen = helpers.round;
      pthread_cond_wait(&helpers.wake, &helpers.mutex);
    }
    seen = helpers.round;
    --helpers.asked;
    Launch* launch = helpers.launch;
    pthread_mutex_unlock(&helpers.mutex);
    worker->run_blocks(*launch);
    pthread_mutex_lock(&helpers.mutex);
    if (--helpers.running == 0) pthread_cond_signal(&helpers.done);
  }
}

int processors() {
#ifdef KFE_CHECK
  return 1;  // what is found must not depend on chance
#else
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
#endif
}

void start_helpers() {
  helpers.first = Worker::make();
  const int wanted = processors() - 1;
  for (int i = 0; i < wanted && i < kMostHelpers; ++i) {
    helpers.worker[i] = Worker::make();
    if (pthread_create(&helpers.thread[i], nullptr, help, helpers.worker[i]) != 0) break;
    ++helpers.count;
  }
}

// Before the library's code goes away under them.
__attribute__((destructor)) void end_helpers() {
  pthread_mutex_lock(&helpers.mutex);
  helpers.ending = true;
  pthread_cond_broadcast(&helpers.wake);
  pthread_mutex_unlock(&helpers.mutex);
  for (int i = 0; i < helpers.count; ++i) {
    pthread_join(helpers.thread[i], nullptr);
    helpers.worker[i]->destroy();
  }
  if (helpers.first) helpers.first->destroy();
}

}  // namespace

void run_launch(Launch& launch) {
  if (!helpers.first) start_helpers();
  const uint64_t more = launch.blocks - 1;
  const int asked = more < static_cast<uint64_t>(helpers.count) ? static_cast<int>(more) : helpers.count;
  if (asked) {
    pthread_mutex_lock(&helpers.mutex);
    helpers.launch = &launch;
    ++helpers.round;
    helpers.asked = helpers.running = asked;
    pthread_cond_broadcast(&helpers.wake);
    pthread_mutex_unlock(&helpers.mutex);
  }
  helpers.first->run_blocks(launch);
  if (!asked) return;
  pthread_mutex_lock(&helpers.mutex);
  // Those that have not woken yet are not waited for: there is nothing left to do.
  helpers.running -= helpers.asked;
  helpers.asked = 0;
  while (helpers.running) pthread_cond_wait(&helpers.done, &helpers.mutex);
  pthread_mutex_unlock(&helpers.mutex);
}

}  // namespace kfe
