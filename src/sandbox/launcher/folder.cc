// How much the program has written in its folder. The size of one file has a limit of the kernel's; their
// number and sum have none, so the watcher looks from time to time.
#include <ftw.h>
#include <sys/stat.h>

#include "sandbox/launcher/steps.h"

namespace kforge::launcher {
namespace {

uint64_t bytes_seen;
uint64_t bytes_allowed;

int add_size(const char*, const struct stat* info, int kind, FTW*) {
  if (kind == FTW_DNR) return 1;  // a folder closed against us hides what it holds
  if (kind != FTW_NS) bytes_seen += static_cast<uint64_t>(info->st_blocks) * 512;
  return bytes_seen > bytes_allowed;
}

}  // namespace

bool folder_too_large(const Plan& plan) {
  bytes_seen = 0;
  bytes_allowed = plan.head->folder_bytes;
  constexpr int kOpenFolders = 16;
  return ::nftw(plan.writable, add_size, kOpenFolders, FTW_PHYS | FTW_MOUNT) != 0;
}

}  // namespace kforge::launcher
