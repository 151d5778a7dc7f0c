#include "base/fd.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kforge {

void Fd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (data_) ::munmap(data_, size_);
}

Result<Mapping> Mapping::map(int fd, std::size_t size, bool writable) {
  void* data = ::mmap(nullptr, size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) return fail("cannot map {} bytes of memory: {}", size, std::strerror(errno));
  Mapping mapping;
  mapping.data_ = static_cast<std::byte*>(data);
  mapping.size_ = size;
  return mapping;
}

Result<Fd> make_memfd(const char* name, std::size_t size) {
  Fd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return fail("cannot create shared memory '{}': {}", name, std::strerror(errno));
  if (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0)
    return fail("cannot size shared memory '{}' to {} bytes: {}", name, size, std::strerror(errno));
  return fd;
}

}  // namespace kforge
