#include "oracle/expected_cache.h"

namespace kforge {

Result<ExpectedValues> ExpectedCache::get(const BoundTask& task, InputKind kind, std::uint64_t seed,
                                          std::uint64_t secret, int threads, bool once,
                                          const std::stop_token& stop) {
  const std::string key = task.key();
  std::lock_guard lock(mutex_);
  std::erase_if(kept_, [&](const Kept& kept) {
    const bool outdated = kept.task == key && kept.secret != secret;
    if (outdated) room_ += kept.bytes;
    return outdated;
  });
  for (const Kept& kept : kept_)
    if (kept.task == key && kept.kind == kind && kept.seed == seed) return ExpectedValues{kept.expected, 0};
  KF_TRY(Expected computed,
         expected_outputs(task, kind, seed, threads, once ? nullptr : files_, kWorthCaching, stop));
  const double seconds = computed.seconds;
  const std::size_t bytes = computed.bytes();
  auto expected = std::make_shared<const Expected>(std::move(computed));
  if (bytes <= room_) {
    room_ -= bytes;
    kept_.push_back({key, kind, seed, secret, expected, bytes});
  }
  return ExpectedValues{std::move(expected), seconds};
}

}  // namespace kforge
