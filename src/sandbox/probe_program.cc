// A program for the sandbox's tests: tries what its arguments say and prints what came of it. Linked
// statically, so that it runs wherever it can be executed at all.
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern char** environ;

namespace {

int say(long result) {
  if (result < 0)
    std::printf("error %s\n", strerrorname_np(errno));
  else
    std::printf("ok\n");
  return 0;
}

int list_fds() {
  for (int fd = 0; fd < 1024; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) std::printf("%d ", fd);
  }
  return 0;
}

int print_environment() {
  for (char** variable = environ; *variable; ++variable) std::puts(*variable);
  return 0;
}

int fork_many() {
  int made = 0;
  for (int i = 0; i < 2000; ++i) {
    pid_t child = ::fork();
    if (child < 0) break;
    if (child == 0) {
      ::sleep(60);
      ::_exit(0);
    }
    ++made;
  }
  std::printf("%d\n", made);
  return 0;
}

// A daemon as its book says: new session, second fork, parent gone.
int leave_daemon() {
  if (::fork() == 0) {
    ::setsid();
    if (::fork() == 0) {
      ::signal(SIGHUP, SIG_IGN);
      ::signal(SIGTERM, SIG_IGN);
      ::sleep(60);
    }
    ::_exit(0);
  }
  ::usleep(30'000);
  std::puts("left");
  return 0;
}

int take_memory(const char* megabytes) {
  std::size_t bytes = static_cast<std::size_t>(std::atol(megabytes)) << 20;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return say(-1);
  std::memset(memory, 1, bytes);
  return say(0);
}

// As drivers do for one address space with their device.
int reserve_addresses(const char* gigabytes) {
  const std::size_t bytes = static_cast<std::size_t>(std::atol(gigabytes)) << 30;
  void* memory = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return say(memory == MAP_FAILED ? -1 : 0);
}

// Three processes, each with so much, that live on.
int take_memory_together(const char* megabytes) {
  for (int i = 0; i < 3; ++i)
    if (::fork() == 0) {
      take_memory(megabytes);
      ::sleep(60);
      ::_exit(0);
    }
  ::sleep(60);
  return 0;
}

int flood(const char* megabytes) {
  char line[4096];
  std::memset(line, 'x', sizeof line);
  for (long i = 0; i < std::atol(megabytes) * 256; ++i) {
    ::write(1, line, sizeof line);
    ::write(2, line, sizeof line);
  }
  return 7;
}

int count_with_threads() {  // two processes would do as well; threads are what stop() must reach
  auto* counters =
      static_cast<volatile long*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0));
  char* stack = static_cast<char*>(::malloc(64 << 10));
  auto body = [](void* at) {
    for (auto* counter = static_cast<volatile long*>(at);;) *counter = *counter + 1;
    return 0;
  };
  ::clone(body, stack + (64 << 10), CLONE_VM | CLONE_THREAD | CLONE_SIGHAND, const_cast<long*>(counters + 1));
  for (;;) counters[0] = counters[0] + 1;
}

// Many small files, some in a folder that nobody may look into.
int fill_folder(const char* folder) {
  char block[65536] = {}, path[512];
  std::snprintf(path, sizeof path, "%s/hidden", folder);
  ::mkdir(path, 0700);
  for (int i = 0;; ++i) {
    std::snprintf(path, sizeof path, "%s/hidden/%d", folder, i);
    int fd = ::open(path, O_WRONLY | O_CREAT, 0644);
    for (int n = 0; n < 16; ++n) ::write(fd, block, sizeof block);
    ::close(fd);
    if (i == 2) std::snprintf(path, sizeof path, "%s/hidden", folder), ::chmod(path, 0300);
    ::usleep(1000);
  }
}

int attempt(const char* what, const char* value) {
  auto is = [&](const char* name) { return std::strcmp(what, name) == 0; };
  if (is("exit")) return std::atoi(value);
  if (is("raise")) return ::signal(std::atoi(value), SIG_DFL), ::raise(std::atoi(value));
  if (is("crash")) *static_cast<volatile int*>(nullptr) = 1;
  if (is("read")) return say(::open(value, O_RDONLY));
  if (is("write")) return say(::open(value, O_WRONLY | O_CREAT, 0644));
  if (is("fds")) return list_fds();
  if (is("env")) return print_environment();
  if (is("cwd")) return std::puts(::getcwd(nullptr, 0)), 0;
  if (is("uid")) return std::printf("%u %d\n", ::getuid(), ::getgroups(0, nullptr)), 0;
  if (is("sleep")) return ::sleep(static_cast<unsigned>(std::atoi(value))), 0;
  while (is("spin")) asm volatile("");
  if (is("inet")) return say(::socket(AF_INET, SOCK_STREAM, 0));
  if (is("unix")) return say(::socket(AF_UNIX, SOCK_STREAM, 0));
  if (is("ptrace")) return say(::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr));
  if (is("kill")) return say(::kill(std::atoi(value), 0));
  if (is("unshare")) return say(::unshare(CLONE_NEWUSER));
  if (is("clone-user")) return say(::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
  if (is("privileges"))
    return say(::setuid(0) == 0 || ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 ? 0 : -1);
  if (is("fork")) return fork_many();
  if (is("daemon")) return leave_daemon();
  if (is("memory")) return take_memory(value);
  if (is("reserve")) return reserve_addresses(value);
  if (is("memory-together")) return take_memory_together(value);
  if (is("flood")) return flood(value);
  if (is("count")) return count_with_threads();
  if (is("fill")) return fill_folder(value);
  if (is("exec")) return ::execl(value, value, nullptr), say(-1);
  if (is("jit"))
    return say(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                      0) == MAP_FAILED
                   ? -1
                   : 0);
  if (is("file")) {  // writes until it fails
    int fd = ::open(value, O_WRONLY | O_CREAT, 0644);
    char block[65536] = {};
    for (int i = 0; i < 1000; ++i) ::write(fd, block, sizeof block);
    return 0;
  }
  return 99;
}

}  // namespace

// probe WHAT [VALUE] + WHAT [VALUE] + ...
int main(int argc, char** argv) {
  int result = 99;
  for (int i = 1; i < argc; ++i) {
    bool has_value = i + 1 < argc && std::strcmp(argv[i + 1], "+") != 0;
    result = attempt(argv[i], has_value ? argv[i + 1] : "");
    while (i < argc && std::strcmp(argv[i], "+") != 0) ++i;
  }
  return result;
}
