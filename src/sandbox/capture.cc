#include "sandbox/capture.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace kforge {

Result<OutputCapture> OutputCapture::create(std::size_t limit) {
  constexpr std::size_t kPage = 4096;  // seals act on whole pages: a smaller rest could never be filled
  OutputCapture capture;
  capture.limit_ = std::max(kPage, (limit + kPage - 1) / kPage * kPage);
  KF_TRY(capture.file_, make_memfd("output", capture.limit_));
  if (::fcntl(capture.file_.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    return fail("cannot seal the output file: {}", std::strerror(errno));
  return capture;
}

// The program's descriptors share this one's offset, which therefore is the number of bytes written.
std::size_t OutputCapture::written() const {
  off_t at = ::lseek(file_.get(), 0, SEEK_CUR);
  return std::min(limit_, static_cast<std::size_t>(std::max<off_t>(at, 0)));
}

std::string OutputCapture::text() const {
  std::string text(written(), '\0');
  ssize_t got = ::pread(file_.get(), text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

bool OutputCapture::full() const { return written() == limit_; }

}  // namespace kforge
