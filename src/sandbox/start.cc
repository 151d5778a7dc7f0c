// start_sandboxed: builds the launcher's plan, starts the launcher and takes over the conversation.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/files.h"
#include "sandbox/bubblewrap.h"
#include "sandbox/filter.h"
#include "sandbox/proc.h"
#include "sandbox/process.h"

namespace kforge {
namespace {

Result<void> check_spec(const SandboxSpec& spec) {
  if (spec.argv.empty() || spec.argv[0].empty() || spec.argv[0][0] != '/')
    return fail("a sandboxed program needs an absolute path");
  if (spec.fds.size() > kMaxProgramFds)
    return fail("a sandboxed program takes at most {} descriptors", kMaxProgramFds);
  auto has_nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  bool nul = std::any_of(spec.argv.begin(), spec.argv.end(), has_nul) || has_nul(spec.writable.string());
  for (const auto& [name, value] : spec.env) nul = nul || has_nul(name) || has_nul(value) || name.empty();
  for (const fs::path& path : spec.readable) nul = nul || has_nul(path.string());
  if (nul) return fail("a sandboxed program's arguments, paths and variables cannot contain NUL");
  return {};
}

bool drops_privileges(SandboxTier tier) { return tier != SandboxTier::kNone && ::geteuid() == 0; }

// The first folder on the way that a stranger cannot pass, or the path itself where he cannot read it.
std::optional<fs::path> closed_to_others(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error), sofar;
  if (error) return std::nullopt;
  for (const fs::path& part : real) {
    sofar /= part;
    struct stat info {};
    if (::stat(sofar.c_str(), &info) != 0) return sofar;
    mode_t needed = S_ISDIR(info.st_mode) ? S_IXOTH : S_IROTH;
    if (S_ISCHR(info.st_mode)) needed = 0;  // a device: its own group decides
    if (!(info.st_mode & needed)) return sofar;
  }
  return std::nullopt;
}

// As root the program could not reach a staged file behind a closed folder: better said here than guessed
// later.
Result<void> check_reachable(const SandboxSpec& spec, SandboxTier tier) {
  if (!drops_privileges(tier)) return {};
  auto paths = spec.readable;
  if (!spec.writable.empty()) paths.push_back(spec.writable.parent_path());
  for (const fs::path& path : paths) {
    if (auto closed = closed_to_others(path))
      return fail_with_remedy("stage the files in a folder with mode 0755",
                              fmt::format("a sandboxed program cannot read {}: {} is closed to other users",
                                          path.string(), closed->string()));
  }
  return {};
}

std::vector<std::string> environment_of(const SandboxSpec& spec) {
  std::vector<std::string> list;
  for (const auto& [name, value] : spec.env) list.push_back(name + "=" + value);
  // /tmp is not the same in all tiers; the one folder the program owns is.
  if (!spec.writable.empty() && !spec.env.contains("TMPDIR"))
    list.push_back("TMPDIR=" + spec.writable.string());
  return list;
}

// In the Landlock tier: what the mount table does elsewhere.
std::vector<fs::path> landlock_paths(const SandboxSpec& spec) {
  std::vector<fs::path> paths = system_paths(spec.profile);
  paths.insert(paths.end(), spec.readable.begin(), spec.readable.end());
  paths.emplace_back(spec.argv[0]);
  return paths;
}

// Tasks that are there besides the program's own: bubblewrap and our init run under the same uid.
constexpr std::uint64_t kWrapperTasks = 2;

std::uint64_t process_limit(const SandboxSpec& spec, SandboxTier tier) {
  // An ordinary user's limit counts all his processes, unless a user namespace counts anew.
  if (tier == SandboxTier::kLandlock && ::geteuid() != 0)
    return spec.limits.processes + count_tasks_of(::getuid());
  return spec.limits.processes + kWrapperTasks;
}

Result<Fd> build_profile_filter(SandboxProfile profile, SandboxTier tier) {
  switch (profile) {
    case SandboxProfile::kCompile:
      return compile_filter(tier);
    case SandboxProfile::kNative:
      return native_start_filter(tier);
    case SandboxProfile::kDriver:
      return driver_filter(tier);
    case SandboxProfile::kDesktop:
      return desktop_filter(tier);
  }
  return fail("unknown sandbox profile");
}

Result<Fd> profile_filter(SandboxProfile profile, SandboxTier tier) {
  static FilterOnce filters[4][3];
  return filters[static_cast<std::size_t>(profile)][static_cast<std::size_t>(tier)].get(
      [&] { return build_profile_filter(profile, tier); });
}

Result<LaunchPlan> plan_head(const SandboxSpec& spec, SandboxTier tier) {
  LaunchPlan head{};
  bool confined = tier != SandboxTier::kNone;
  head.version = kLaunchPlanVersion;
  head.program_fds = static_cast<std::uint32_t>(spec.fds.size());
  head.use_landlock = tier == SandboxTier::kLandlock;
  head.has_filter = confined;
  head.drop_privileges = drops_privileges(tier);
  head.limit_processes = confined;
  // A candidate is one process that cannot make others: its own limits say all that a group could, and
  // joining a group waits up to 20 ms for the kernel.
  const bool several = spec.profile != SandboxProfile::kNative;
  head.use_cgroup = confined && several && spec.limits.control_groups;
  head.watch_memory = several;
  head.own_proc = spec.profile != SandboxProfile::kNative;
  head.memory_bytes = spec.limits.memory_bytes;
  head.address_bytes = spec.limits.reserves_addresses ? RLIM_INFINITY : spec.limits.memory_bytes;
  head.cpu_seconds = spec.limits.cpu_seconds;
  head.file_bytes = std::max<std::uint64_t>(spec.limits.file_bytes, spec.limits.output_bytes + 4096);
  head.folder_bytes = spec.limits.folder_bytes;
  head.processes = process_limit(spec, tier);
  head.open_files = spec.profile == SandboxProfile::kNative && confined ? 128 : 1024;
  head.wall_ms = spec.limits.wall.count();
  for (int cpu : spec.cpus) {
    if (cpu < 0 || cpu >= static_cast<int>(kMaxCpus)) return fail("there is no processor {}", cpu);
    head.cpus[cpu / 64] |= std::uint64_t{1} << (cpu % 64);
    head.set_affinity = 1;
  }
  return head;
}

Result<Fd> write_plan(LaunchPlan head, const std::vector<std::string>& wrapper, const SandboxSpec& spec) {
  std::string strings;
  auto add = [&](const std::string& text) { strings.append(text).push_back('\0'); };
  std::vector<std::string> env = environment_of(spec);
  std::vector<fs::path> readable;
  if (head.use_landlock) readable = landlock_paths(spec);
  head.wrapper_argc = static_cast<std::uint32_t>(wrapper.size());
  head.argc = static_cast<std::uint32_t>(spec.argv.size());
  head.envc = static_cast<std::uint32_t>(env.size());
  head.readable = static_cast<std::uint32_t>(readable.size());
  for (const std::string& word : wrapper) add(word);
  for (const std::string& word : spec.argv) add(word);
  for (const std::string& variable : env) add(variable);
  for (const fs::path& path : readable) add(path.string());
  add(spec.writable.string());
  head.bytes = static_cast<std::uint32_t>(sizeof head + strings.size());
  std::string plan(reinterpret_cast<const char*>(&head), sizeof head);
  plan += strings;
  KF_TRY(Fd fd, make_memfd("launch-plan", plan.size()));
  if (::pwrite(fd.get(), plan.data(), plan.size(), 0) != static_cast<ssize_t>(plan.size()))
    return fail("cannot write the launch plan: {}", std::strerror(errno));
  return fd;
}

// A spawned launcher shares no memory with KForge, however much KForge has mapped (posix_spawn is a vfork).
class Spawn {
 public:
  Spawn() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  ~Spawn() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  // Source descriptors are first moved above every target, so that no dup2 overwrites a later source.
  Result<void> pass(int fd) {
    Fd high(::fcntl(fd, F_DUPFD_CLOEXEC, 3 + kMaxProgramFds + 16));
    if (!high.valid()) return fail("cannot pass descriptor {} to the sandbox: {}", fd, std::strerror(errno));
    ::posix_spawn_file_actions_adddup2(&actions_, high.get(), target_++);
    held_.push_back(std::move(high));
    return {};
  }

  Result<pid_t> run(const fs::path& program, std::vector<std::string> words) {
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    char* env[] = {nullptr};
    pid_t pid = 0;
    int error = ::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, argv.data(), env);
    held_.clear();  // the launcher's end of the socket must be its own, or its end would not be seen
    if (error != 0) return fail("cannot start {}: {}", program.string(), std::strerror(error));
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  std::vector<Fd> held_;
  int target_ = 0;
};

Result<Fd> open_to_pass(const fs::path& path, int flags) {
  Fd fd(::open(path.c_str(), flags | O_CLOEXEC));
  if (!fd.valid()) return fail("cannot open {}: {}", path.string(), std::strerror(errno));
  return fd;
}

Result<fs::path> find_bubblewrap() {
  for (const char* path : {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"}) {
    if (::access(path, X_OK) == 0) return path;
  }
  return fail_with_remedy("install the package bubblewrap", "the program bwrap was not found");
}

}  // namespace

Result<std::unique_ptr<SandboxedProcess>> start_sandboxed(const SandboxSpec& spec, SandboxTier tier) {
  KF_TRY_VOID(check_spec(spec));
  KF_TRY_VOID(check_reachable(spec, tier));
  KF_TRY(fs::path launcher, helper_program("kforge-launch"));
  KF_TRY(LaunchPlan head, plan_head(spec, tier));
  std::vector<std::string> wrapper;
  if (tier == SandboxTier::kBubblewrap) {
    KF_TRY(fs::path bwrap, find_bubblewrap());
    bool reachable = !drops_privileges(tier) || !closed_to_others(launcher);
    wrapper = bubblewrap_argv(bwrap, reachable ? launcher : fs::path(), spec, head);
  }
  KF_TRY(Fd plan, write_plan(head, wrapper, spec));
  KF_TRY(Fd filter, profile_filter(spec.profile, tier));
  KF_TRY(Fd nothing, open_to_pass("/dev/null", O_RDONLY));
  KF_TRY(Fd launcher_file, open_to_pass(launcher, O_RDONLY));
  KF_TRY(Fd program_file, open_to_pass(spec.argv[0], O_PATH));
  KF_TRY(OutputCapture out, OutputCapture::create(spec.limits.output_bytes));
  KF_TRY(OutputCapture err, OutputCapture::create(spec.limits.output_bytes));
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail("cannot make a socket: {}", std::strerror(errno));
  Fd control(ends[0]), launchers_end(ends[1]);
  int on = 1;
  ::setsockopt(control.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on);

  Spawn spawn;
  for (int fd : {nothing.get(), out.fd(), err.fd()}) KF_TRY_VOID(spawn.pass(fd));
  for (int fd : spec.fds) KF_TRY_VOID(spawn.pass(fd));
  for (int fd : {launchers_end.get(), plan.get(), filter.get(), launcher_file.get(), program_file.get()})
    KF_TRY_VOID(spawn.pass(fd));
  KF_TRY(pid_t pid, spawn.run(launcher, {"kforge-launch", "supervise", std::to_string(plan_fd_of(head))}));
  launchers_end.reset();
  return LaunchedProcess::take_over(pid, std::move(control), std::move(out), std::move(err), spec.limits);
}

}  // namespace kforge
