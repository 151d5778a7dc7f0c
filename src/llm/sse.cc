#include "llm/sse.h"

namespace kforge {

bool SseParser::feed(std::string_view bytes) {
  while (!bytes.empty() && !too_large_) {
    if (after_cr_) {
      after_cr_ = false;
      if (bytes[0] == '\n') {  // the second half of a CRLF that may have come in two slices
        bytes.remove_prefix(1);
        continue;
      }
    }
    std::size_t end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (line_.size() + data_.size() > limit_) too_large_ = true;
    if (end == std::string_view::npos) break;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (!too_large_) end_line();
  }
  return !too_large_;
}

void SseParser::finish() {
  if (too_large_) return;
  if (!line_.empty()) end_line();
  dispatch();
}

void SseParser::end_line() {
  std::string line = std::exchange(line_, {});
  if (std::exchange(at_start_, false) && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  if (line.empty()) return dispatch();
  std::size_t colon = line.find(':');
  if (colon == 0) return;  // a comment
  std::string_view field = std::string_view(line).substr(0, colon), value;
  if (colon != std::string::npos) value = std::string_view(line).substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") event_ = value;
  if (field != "data") return;
  if (has_data_) data_ += '\n';
  data_ += value;
  has_data_ = true;
}

void SseParser::dispatch() {
  if (has_data_) on_event_(event_, data_);
  event_.clear();
  data_.clear();
  has_data_ = false;
}

}  // namespace kforge
