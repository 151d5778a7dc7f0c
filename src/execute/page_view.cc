#include "execute/page_view.h"

#include <sys/mman.h>

#include <cstdint>

namespace kforge {
namespace {

constexpr std::size_t kLarge = 4 << 20;

// Whole pages of a large tensor; nothing of a small one.
std::span<std::byte> large_pages(std::span<std::byte> tensor) {
  constexpr std::uintptr_t kPage = 4096;
  if (tensor.size() < kLarge) return {};
  auto begin = (reinterpret_cast<std::uintptr_t>(tensor.data()) + kPage - 1) / kPage * kPage;
  auto end = reinterpret_cast<std::uintptr_t>(tensor.data() + tensor.size()) / kPage * kPage;
  return {reinterpret_cast<std::byte*>(begin), end - begin};
}

}  // namespace

void bring_in(std::span<std::byte> tensor) {
  auto pages = large_pages(tensor);
  if (!pages.empty()) (void)::madvise(pages.data(), pages.size(), MADV_POPULATE_WRITE);
}

void let_go(std::span<std::byte> tensor) {
  auto pages = large_pages(tensor);
  if (!pages.empty()) (void)::madvise(pages.data(), pages.size(), MADV_DONTNEED);
}

}  // namespace kforge
