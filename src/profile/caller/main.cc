// kforge-call: loads a candidate and calls its kernel, for profilers. It runs inside the sandbox, shares its
// process with hostile code, and nothing it prints is believed beyond its use as a hint.
//
//   kforge-call LIBRARY PLAN [--calls N] [--seconds S] [--sample] [--wait] [--mark]
//
// With --mark the second of two calls is marked for an emulator that counts (profile/counter/plugin.cc).
// With --sample a timer interrupts it all the while it works; it prints where that was:
//   at OFFSET COUNT        in the candidate
//   in FILE COUNT          in a library
//   thread COUNT           of each thread
//   calls N  user SECONDS  system SECONDS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>

#include "profile/caller/plan.h"
#include "runner/call_pointers.h"

namespace kforge::caller {
namespace {

struct Tensor {
  bool param = false;
  void* data = nullptr;
};

Tensor tensors[kMostTensors];
int tensor_count = 0;

[[noreturn]] void give_up(const char* what) {
  fprintf(stderr, "kforge-call: %s\n", what);
  exit(3);
}

// --- calling
// -----------------------------------------------------------------------------------------------------

using Function = runner::AnyFunction;

struct Kernel {
  Function function = nullptr;
  void* pointers[runner::kMostPointers] = {};
  size_t count = 0;

  void call() { runner::caller_of(count)(function, pointers); }
};

static_assert(kMostTensors + 1 == runner::kMostPointers);

Kernel load_kernel(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) give_up(dlerror());
  auto find = [&](const char* name) { return reinterpret_cast<Function>(dlsym(library, name)); };
  Kernel kernel;
  if (Function prepared = find("kernel_prepared")) {
    static void* params[runner::kMostPointers];  // null behind the last one
    size_t count = 0;
    for (int i = 0; i < tensor_count; ++i)
      if (tensors[i].param) params[count++] = tensors[i].data;
    Function prepare = find("prepare");
    if (!prepare) give_up("no prepare");
    kernel.function = prepared;
    kernel.pointers[kernel.count++] = runner::caller_of(count)(prepare, params);
    for (int i = 0; i < tensor_count; ++i)
      if (!tensors[i].param) kernel.pointers[kernel.count++] = tensors[i].data;
    return kernel;
  }
  kernel.function = find("kernel");
  if (!kernel.function) give_up("no kernel");
  for (int i = 0; i < tensor_count; ++i) kernel.pointers[kernel.count++] = tensors[i].data;
  return kernel;
}

// --- tensors
// -----------------------------------------------------------------------------------------------------

void map_tensors(const char* plan) {
  FILE* file = fopen(plan, "r");
  if (!file) give_up("no plan");
  struct stat info;
  if (fstat(kTensorFd, &info) != 0) give_up("no tensors");
  size_t bytes = static_cast<size_t>(info.st_size);
  char* base =
      bytes ? static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, kTensorFd, 0))
            : nullptr;
  if (base == MAP_FAILED) give_up("cannot map the tensors");
  char role[16];
  unsigned long offset, size;
  while (fscanf(file, "%15s %lu %lu", role, &offset, &size) == 3) {
    if (tensor_count == kMostTensors || offset > bytes || size > bytes - offset)
      give_up("a plan that does not fit");
    tensors[tensor_count].param = !strcmp(role, "param");
    tensors[tensor_count++].data = base + offset;
  }
  fclose(file);
}

// --- sampling
// ----------------------------------------------------------------------------------------------------

constexpr size_t kSlots = 1 << 16, kMostThreads = 1024, kMostRanges = 64;
struct Counted {
  std::atomic<uint64_t> key;  // 0: free
  std::atomic<uint32_t> count;
};
Counted places[kSlots], threads[kMostThreads];
struct Range {
  uintptr_t begin, end, base;
  char name[64];
  bool candidate;
  std::atomic<uint32_t> count;
};
Range ranges[kMostRanges];
int range_count = 0;
std::atomic<uint32_t> elsewhere;

void count_in(Counted* table, size_t slots, uint64_t key) {
  size_t at = (key * 0x9E3779B97F4A7C15u) >> 40;
  for (size_t tried = 0; tried < 64; ++tried) {
    Counted& slot = table[(at + tried) % slots];
    uint64_t expected = 0;
    if (slot.key.load(std::memory_order_relaxed) == key || slot.key.compare_exchange_strong(expected, key) ||
        expected == key) {
      slot.count.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
}

void on_tick(int, siginfo_t*, void* context) {
  int saved = errno;
#if defined(__x86_64__)
  auto pc = static_cast<uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  auto pc = static_cast<uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.pc);
#else
  uintptr_t pc = 0;
#endif
  count_in(threads, kMostThreads, static_cast<uint64_t>(syscall(SYS_gettid)));
  bool found = false;
  for (int i = 0; i < range_count && !found; ++i)
    if (pc >= ranges[i].begin && pc < ranges[i].end) {
      found = true;
      ranges[i].count.fetch_add(1, std::memory_order_relaxed);
      if (ranges[i].candidate) count_in(places, kSlots, pc - ranges[i].base + 1);
    }
  if (!found) elsewhere.fetch_add(1, std::memory_order_relaxed);
  errno = saved;
}

int note_library(dl_phdr_info* info, size_t, void* candidate) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || !(header.p_flags & PF_X) || range_count == static_cast<int>(kMostRanges))
      continue;
    Range& range = ranges[range_count++];
    range.base = info->dlpi_addr;
    range.begin = info->dlpi_addr + header.p_vaddr;
    range.end = range.begin + header.p_memsz;
    const char* slash = strrchr(info->dlpi_name, '/');
    const char* name = slash ? slash + 1 : info->dlpi_name;
    snprintf(range.name, sizeof range.name, "%s", *name ? name : "main");
    range.candidate = !strcmp(info->dlpi_name, static_cast<const char*>(candidate));
  }
  return 0;
}

void start_sampling(const char* library) {
  dl_iterate_phdr(note_library, const_cast<char*>(library));
  struct sigaction action {};
  action.sa_sigaction = on_tick;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  itimerval every{{0, 1000}, {0, 1000}};
  setitimer(ITIMER_PROF, &every, nullptr);
}

void report_samples() {
  itimerval never{};
  setitimer(ITIMER_PROF, &never, nullptr);
  for (Counted& place : places)
    if (place.key) printf("at %#lx %u\n", static_cast<unsigned long>(place.key - 1), place.count.load());
  for (int i = 0; i < range_count; ++i)
    if (ranges[i].count)
      printf("in %s %u\n", ranges[i].candidate ? "candidate" : ranges[i].name, ranges[i].count.load());
  if (elsewhere) printf("in elsewhere %u\n", elsewhere.load());
  for (Counted& thread : threads)
    if (thread.key) printf("thread %u\n", thread.count.load());
}

// For an emulator that counts: a system call that means nothing, and that it recognises.
void set_mark() { syscall(SYS_prctl, kMark, 0, 0, 0, 0); }

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
double seconds(timeval t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); }

}  // namespace
}  // namespace kforge::caller

int main(int argc, char** argv) {
  using namespace kforge::caller;
  if (argc < 3)
    give_up("usage: kforge-call LIBRARY PLAN [--calls N] [--seconds S] [--sample] [--wait] [--mark]");
  long most_calls = 1;
  double most_seconds = 0;
  bool sample = false, wait = false, mark = false;
  for (int i = 3; i < argc; ++i) {
    if (!strcmp(argv[i], "--calls") && i + 1 < argc)
      most_calls = atol(argv[++i]);
    else if (!strcmp(argv[i], "--seconds") && i + 1 < argc)
      most_seconds = atof(argv[++i]);
    else if (!strcmp(argv[i], "--sample"))
      sample = true;
    else if (!strcmp(argv[i], "--wait"))
      wait = true;
    else if (!strcmp(argv[i], "--mark"))
      mark = true;
    else
      give_up("unknown option");
  }
#if defined(__x86_64__)
  syscall(SYS_arch_prctl, 0x1023, 18);  // Intel's tile registers are off until a process asks for them
#endif
  map_tensors(argv[2]);
  if (wait) {
    char byte = 0;
    pollfd ready{kGoFd, POLLIN, 0};
    poll(&ready, 1, 10'000);
    if (read(kGoFd, &byte, 1) != 1 || byte != kGo) give_up("nobody said go");
  }
  Kernel kernel = load_kernel(argv[1]);
  if (mark) {
    kernel.call();  // what is done once is done
    set_mark();
    kernel.call();
    set_mark();
    return 0;
  }
  if (sample) {
    kernel.call();  // pages are touched and threads started before anything is counted
    start_sampling(argv[1]);
  }
  rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  double start = now();
  long calls = 0;
  do {
    kernel.call();
    ++calls;
  } while (calls < most_calls || (most_seconds > 0 && now() - start < most_seconds));
  getrusage(RUSAGE_SELF, &after);
  if (sample) report_samples();
  printf("calls %ld user %.6f system %.6f\n", calls, seconds(after.ru_utime) - seconds(before.ru_utime),
         seconds(after.ru_stime) - seconds(before.ru_stime));
  fflush(stdout);
  _exit(0);  // what the candidate registered for the end is not wanted
}
