#include "sandbox/tier_memory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

#include "base/files.h"
#include "base/hash.h"

namespace kforge {
namespace {

constexpr auto kFresh = std::chrono::minutes(10);

// Everything a tier depends on that can be read without trying it.
std::string circumstances() {
  Hasher hasher;
  hasher.add(std::to_string(::getuid()));
  for (const char* setting :
       {"/proc/sys/kernel/random/boot_id", "/proc/sys/kernel/unprivileged_userns_clone",
        "/proc/sys/user/max_user_namespaces", "/proc/self/status", "/sys/kernel/security/lsm"}) {
    auto text = read_file(setting, 1 << 16);
    if (!text) continue;
    // Of the process's own state only what confines it: filters, capabilities.
    if (std::string_view(setting) == "/proc/self/status") {
      for (const char* field : {"CapBnd:", "CapEff:", "NoNewPrivs:", "Seccomp:"}) {
        auto at = text->find(field);
        if (at != std::string::npos) hasher.add(text->substr(at, text->find('\n', at) - at));
      }
      continue;
    }
    hasher.add(*text);
  }
  auto launcher = helper_program("kforge-launch");
  for (const fs::path& program : {fs::path("/usr/bin/bwrap"), launcher ? *launcher : fs::path()}) {
    struct stat info {};
    if (::stat(program.c_str(), &info) == 0)
      hasher.add(fmt::format("{} {}", info.st_size, info.st_mtim.tv_sec));
  }
  return hasher.hex();
}

Result<fs::path> memory_file() {
  KF_TRY(fs::path home, kforge_home());
  return home / "cache" / "sandbox_tier";
}

}  // namespace

std::optional<SandboxTier> remembered_tier() {
  auto file = memory_file();
  if (!file) return std::nullopt;
  struct stat info {};
  if (::stat(file->c_str(), &info) != 0) return std::nullopt;
  auto written = std::chrono::system_clock::from_time_t(info.st_mtim.tv_sec);
  auto age = std::chrono::system_clock::now() - written;
  if (age < std::chrono::seconds(-1) || age > kFresh) return std::nullopt;
  auto text = read_file(*file, 4096);
  if (!text) return std::nullopt;
  for (SandboxTier tier : {SandboxTier::kBubblewrap, SandboxTier::kLandlock})
    if (*text == fmt::format("{} {}", circumstances(), name_of(tier))) return tier;
  return std::nullopt;
}

void remember_tier(SandboxTier tier) {
  auto file = memory_file();
  std::error_code error;
  if (file) fs::create_directories(file->parent_path(), error);
  if (file && !error)
    (void)write_file_atomic(*file, fmt::format("{} {}", circumstances(), name_of(tier)), 0600);
}

}  // namespace kforge
