// Taking a file out of a folder that a hostile program owned.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sandbox/sandbox.h"

namespace kforge {

Result<std::string> read_product(const std::filesystem::path& folder, const std::string& name,
                                 std::size_t limit) {
  if (name.empty() || name.find('/') != std::string::npos)
    return fail("'{}' is not the name of a file", name);
  Fd parent(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  // No link is followed (it could name a file of ours), and a pipe does not make us wait.
  Fd fd(::openat(parent.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) return fail("cannot read {}/{}: {}", folder.string(), name, std::strerror(errno));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink != 1)
    return fail("{}/{} is not a plain file", folder.string(), name);
  if (static_cast<std::size_t>(info.st_size) > limit)
    return fail("{}/{} is larger than the limit of {} bytes", folder.string(), name, limit);
  std::string content(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t got = 0;
  while (got < content.size()) {
    ssize_t n = ::read(fd.get(), content.data() + got, content.size() - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail("cannot read {}/{}: {}", folder.string(), name, std::strerror(errno));
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  content.resize(got);
  return content;
}

}  // namespace kforge
