#include "sandbox/bubblewrap.h"

#include <fmt/core.h>

namespace kforge {
namespace {

namespace fs = std::filesystem;

// Where the launcher's copy lies inside: a name no caller's path has.
constexpr const char* kInitPath = "/kforge-init";

class Arguments {
 public:
  template <class... Words>
  void add(Words&&... words) {
    (list_.push_back(std::forward<Words>(words)), ...);
  }
  std::vector<std::string> take() { return std::move(list_); }

 private:
  std::vector<std::string> list_;
};

void unshare_everything(Arguments& args) {
  // No network, no processes of the host, no shared memory segments, a host name that tells nothing.
  args.add("--unshare-all", "--hostname", "sandbox");
  args.add("--die-with-parent");  // when the launcher dies, so does all inside
  args.add("--new-session");      // no terminal to push characters into
  args.add("--clearenv");
}

void mount_system(Arguments& args, SandboxProfile profile) {
  for (const fs::path& path : system_paths(profile)) {
    std::error_code ignored;
    if (fs::is_symlink(path, ignored) && path.parent_path() == "/")  // /lib -> usr/lib
      args.add("--symlink", fs::read_symlink(path, ignored).string(), path.string());
    else if (path.string().starts_with("/dev/"))
      args.add("--dev-bind-try", path.string(), path.string());
    else
      args.add("--ro-bind-try", path.string(), path.string());
  }
}

void mount_scratch(Arguments& args, SandboxProfile profile) {
  if (profile == SandboxProfile::kNative) return;  // it may not write files at all
  args.add("--proc", "/proc");
  args.add("--size", std::to_string(64 << 20), "--perms", "1777", "--tmpfs", "/tmp");
  if (profile == SandboxProfile::kDriver || profile == SandboxProfile::kDesktop)
    args.add("--size", std::to_string(256 << 20), "--perms", "1777", "--tmpfs", "/dev/shm");
}

void mount_listed(Arguments& args, const SandboxSpec& spec) {
  for (const fs::path& path : spec.readable) {
    bool device = path.string().starts_with("/dev/");
    args.add(device ? "--dev-bind-try" : "--ro-bind-try", path.string(), path.string());
  }
  if (!spec.writable.empty()) args.add("--bind", spec.writable.string(), spec.writable.string());
}

void mount_init(Arguments& args, const fs::path& launcher, const LaunchPlan& plan) {
  if (launcher.empty())  // two milliseconds dearer
    args.add("--perms", "0555", "--ro-bind-data", std::to_string(self_fd_of(plan)), kInitPath);
  else
    args.add("--ro-bind", launcher.string(), kInitPath);
}

}  // namespace

std::vector<fs::path> system_paths(SandboxProfile profile) {
  std::vector<fs::path> paths = {"/usr",    "/lib", "/lib64", "/lib32",
                                 "/libx32", "/bin", "/sbin",  "/etc/ld.so.cache"};
  // Every mount costs a quarter of a millisecond, and a candidate can open none of these.
  if (profile != SandboxProfile::kNative)
    paths.insert(paths.end(),
                 {"/etc/alternatives", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"});
  return paths;
}

std::vector<std::string> bubblewrap_argv(const fs::path& bwrap, const fs::path& launcher,
                                         const SandboxSpec& spec, const LaunchPlan& plan) {
  Arguments args;
  args.add(bwrap.string());
  unshare_everything(args);
  mount_system(args, spec.profile);
  mount_scratch(args, spec.profile);
  mount_listed(args, spec);
  mount_init(args, launcher, plan);
  args.add("--remount-ro", "/");  // what bubblewrap created on the way is not for writing
  args.add("--chdir", spec.writable.empty() ? "/" : spec.writable.string());
  args.add("--as-pid-1");  // our own init: it reports signals as they were
  args.add("--", kInitPath, "init", std::to_string(plan_fd_of(plan)));
  return args.take();
}

}  // namespace kforge
