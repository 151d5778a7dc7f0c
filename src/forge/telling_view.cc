#include "forge/telling_view.h"

#include "base/clock.h"

namespace kforge {

void TellingView::announce(const std::filesystem::path& home, std::string_view run) {
  std::lock_guard lock(mutex_);
  file_.emplace(home, run);
  tell(true);
}

void TellingView::search_clock(std::optional<double> seconds) {
  std::lock_guard lock(mutex_);
  if (!seconds && status_.searching) before_ += seconds_since(begun_);
  if (seconds) before_ = *seconds;
  status_.searching = seconds.has_value();
  begun_ = std::chrono::steady_clock::now();
  tell(true);
}

void TellingView::stage(std::string_view name) {
  view_.stage(name);
  std::lock_guard lock(mutex_);
  status_.stage = name;
  status_.detail.clear();
  status_.fraction = 0;
  tell(true);
}

void TellingView::advance(double fraction, std::string_view detail) {
  view_.advance(fraction, detail);
  std::lock_guard lock(mutex_);
  status_.fraction = fraction;
  status_.detail = detail;
  tell(false);
}

// REQUIRES: the lock is held.
void TellingView::tell(bool new_stage) {
  if (!file_) return;
  status_.clock = before_ + (status_.searching ? seconds_since(begun_) : 0);
  file_->tell(status_, new_stage);
}

}  // namespace kforge
