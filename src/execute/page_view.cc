#include "execute/page_view.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

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

void in_pieces(std::span<std::byte> tensor, bool stays_in_view,
               const std::function<void(std::span<std::byte>)>& work) {
  constexpr std::size_t kPiece = 2 * kLarge;
  const std::size_t pieces = (tensor.size() + kPiece - 1) / kPiece;
  std::atomic<std::size_t> next = 0;
  auto share = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < pieces;) {
      const std::size_t begin = i * kPiece;
      const auto piece = tensor.subspan(begin, std::min(kPiece, tensor.size() - begin));
      if (!stays_in_view) bring_in(piece);
      work(piece);
      if (!stays_in_view) let_go(piece);
    }
  };
  if (pieces < 2 || std::thread::hardware_concurrency() < 2) return share();
  std::thread other(share);
  share();
  other.join();
}

}  // namespace kforge
