// Expected outputs, kept for whoever asks again: in memory while there is room, and the dear ones on disk.
// Every attempt of a search and every baseline is compared with the same ones.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "oracle/expected.h"

namespace kforge {

struct ExpectedValues {
  std::shared_ptr<const Expected> expected;
  double seconds = 0;  // spent on computing it now; 0 when it was known

  const Expected& operator*() const { return *expected; }
  const Expected* operator->() const { return expected.get(); }
};

// May be asked by several threads: one computes, and whoever asks for the same waits for it.
class ExpectedCache {
 public:
  // `files` may be null. Nothing is thrown out to make room: those who ask come round in the same order, and
  // would then find none of them.
  ExpectedCache(FileCache* files, std::size_t memory_bytes) : files_(files), room_(memory_bytes) {}

  // The inputs of `kind` follow from `seed`; `secret` is what the seeds of all kinds were derived from.
  // Asking with another secret of the same task lets go of what was kept under the old one. `once`: these
  // inputs will not come again in another process, so nothing is written to disk.
  Result<ExpectedValues> get(const BoundTask& task, InputKind kind, std::uint64_t seed, std::uint64_t secret,
                             int threads, bool once, const std::stop_token& stop = {});

 private:
  struct Kept {
    std::string task;
    InputKind kind;
    std::uint64_t seed, secret;
    std::shared_ptr<const Expected> expected;
    std::size_t bytes;
  };

  std::mutex mutex_;
  FileCache* files_;
  std::size_t room_;
  std::vector<Kept> kept_;
};

}  // namespace kforge
