// Runs that are being watched. One thread looks after all of them, once a second, and only while somebody
// watches; what it finds is made into parts of a page once and given to every viewer. So fifty viewers cost
// the run no more than one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "report/page_template.h"
#include "report/run_report.h"
#include "serve/asked.h"
#include "store/run_progress.h"

namespace kforge::serve {

// A part of a page, by the id of its element.
struct LivePart {
  std::string id, html;
  std::uint64_t version = 0;  // of the moment it changed
};

// What viewers of one thing see.
class Channel {
 public:
  // Parts that changed after `seen`; waits for one, at most `longest`. `ended`: nothing more will change.
  std::vector<LivePart> wait(std::uint64_t& seen, std::chrono::milliseconds longest, bool& ended);
  // Parts that belong together, html by id: a viewer gets all of them or none. Those that are the same change
  // nothing.
  void set(std::map<std::string, std::string> parts);
  void end();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t version_ = 0;
  std::map<std::string, LivePart> parts_;
  bool ended_ = false;
};

// Events for EventSource: "part" with {id, html}, and "end". Ends with the channel, the client or the server.
Answer event_stream(std::shared_ptr<Channel> channel);

class LiveRuns {
 public:
  explicit LiveRuns(std::chrono::milliseconds every = std::chrono::seconds(1)) : every_(every) {}
  ~LiveRuns();
  LiveRuns(const LiveRuns&) = delete;
  LiveRuns& operator=(const LiveRuns&) = delete;

  // Alive while somebody holds it.
  std::shared_ptr<Channel> watch(const std::string& run);

 private:
  struct Watched {
    std::weak_ptr<Channel> channel;
    std::optional<RunProgress> progress;
    std::string best;
  };
  void look_after(const std::stop_token& stop);
  // False: nobody watches it any more, or it has ended.
  bool look_at(const std::string& run, Watched& watched);

  const std::chrono::milliseconds every_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::map<std::string, Watched> watched_;
  std::jthread thread_;
};

// The tiles above a run in progress: pages/serve/run_live.mustache.
struct RunAtWork {
  StoredRun run;
  RunActivity activity = RunActivity::kRunning;
  RunProgress progress;
  std::string best;  // from best_words()

  bool under_way() const { return activity == RunActivity::kRunning || activity == RunActivity::kWaiting; }
};
Result<RunAtWork> at_work(RunRecords& records, const std::string& run);
void add_live_tiles(PageData& data, const RunAtWork& work);
// The fastest verified attempt so far, with its figure of the search.
std::string best_words(const RunReport& report);

}  // namespace kforge::serve
