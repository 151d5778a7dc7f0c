// Server-sent events out of bytes that arrive in any slices: line ends of every kind, comments, several data
// lines, a last event without its blank line.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace kforge {

class SseParser {
 public:
  using OnEvent = std::function<void(std::string_view event, std::string_view data)>;
  // An event larger than `limit` bytes ends the parsing.
  SseParser(std::size_t limit, OnEvent on_event) : limit_(limit), on_event_(std::move(on_event)) {}

  // False once an event was too large; nothing is taken any more then.
  bool feed(std::string_view bytes);
  // The input has ended: a pending event counts.
  void finish();

 private:
  void end_line();
  void dispatch();

  std::size_t limit_;
  OnEvent on_event_;
  std::string line_, event_, data_;
  bool has_data_ = false;
  bool after_cr_ = false;
  bool at_start_ = true;
  bool too_large_ = false;
};

}  // namespace kforge
