// The way of an event to the viewers.
#include <nlohmann/json.hpp>

#include "serve/live_runs.h"

namespace kforge::serve {

std::vector<LivePart> Channel::wait(std::uint64_t& seen, std::chrono::milliseconds longest, bool& ended) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, longest, [&] { return version_ > seen || ended_; });
  std::vector<LivePart> parts;
  for (const auto& [id, part] : parts_)
    if (part.version > seen) parts.push_back(part);
  seen = version_;
  ended = ended_;
  return parts;
}

void Channel::set(std::map<std::string, std::string> parts) {
  std::lock_guard lock(mutex_);
  const std::uint64_t before = version_;
  for (auto& [id, html] : parts) {
    LivePart& part = parts_[id];
    if (part.version == 0 || part.html != html) part = {id, std::move(html), ++version_};
  }
  if (version_ > before) changed_.notify_all();
}

void Channel::end() {
  std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

Answer event_stream(std::shared_ptr<Channel> channel) {
  constexpr std::chrono::milliseconds kLookUp{250};  // whether the server ends or the client is gone
  constexpr int kBreaths = 40;  // then something is sent, so that nobody on the way gives up
  Answer answer{.type = "text/event-stream"};
  answer.stream = [channel = std::move(channel)](Sink& sink, const std::stop_token& stop) {
    std::uint64_t seen = 0;
    if (!sink.write("retry: 2000\n\n")) return;
    for (int quiet = 1; !stop.stop_requested() && sink.open(); ++quiet) {
      bool ended = false;
      std::string text;
      for (const LivePart& part : channel->wait(seen, kLookUp, ended))
        text += "event: part\ndata: " +
                nlohmann::json{{"id", part.id}, {"html", part.html}}.dump(
                    -1, ' ', false, nlohmann::json::error_handler_t::replace) +
                "\n\n";
      if (ended) text += "event: end\ndata: {}\n\n";
      if (text.empty() && quiet % kBreaths == 0) text = ":\n\n";
      if (!text.empty() && !sink.write(text)) return;
      if (ended) return;
    }
  };
  return answer;
}

}  // namespace kforge::serve
