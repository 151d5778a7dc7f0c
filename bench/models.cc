// 200 model calls held open at once, against a scripted service in another process: how long, how much
// memory.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include "base/files.h"
#include "e2e/model_server.h"
#include "figures.h"
#include "llm/llm.h"

namespace kforge::bench {
namespace {

constexpr int kCalls = 200;
constexpr std::size_t kReplyBytes = 100'000;  // a long kernel with its reasons
constexpr std::size_t kPromptBytes = 60'000;

// The service's own memory must not count: it lives in a child, which says its address and the peak of open
// calls.
struct Service {
  pid_t pid = 0;
  int from = -1, to = -1;
  std::string url;
};

void serve(int out, int in) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ModelServer server({.delay_seconds = 0.005});  // about 400 events: two seconds a reply
  server.respond("m", [](const SeenCall&) { return say(std::string(kReplyBytes, 'k')); });
  std::string url = server.openai("m") + "\n";
  (void)!::write(out, url.data(), url.size());
  char byte = 0;
  (void)!::read(in, &byte, 1);
  std::string peak = std::to_string(server.concurrent_peak()) + "\n";
  (void)!::write(out, peak.data(), peak.size());
  ::_exit(0);
}

std::string read_line(int fd) {
  std::string line;
  for (char byte; ::read(fd, &byte, 1) == 1 && byte != '\n';) line += byte;
  return line;
}

Service start_service() {
  int out[2], in[2];
  if (::pipe(out) != 0 || ::pipe(in) != 0) std::exit(2);
  Service service;
  service.pid = ::fork();
  if (service.pid == 0) serve(out[1], in[0]);
  service.from = out[0];
  service.to = in[1];
  service.url = read_line(service.from);
  return service;
}

int run() {
  Service service = start_service();
  auto home = TempDir::create();
  ::setenv("KFORGE_HOME", home->path().c_str(), 1);
  auto model = open_model(service.url, {});
  if (!model) {
    fmt::print("{}\n", model.error().text());
    return 2;
  }
  ModelRequest request;
  request.system = std::string(kPromptBytes / 2, 's');
  request.messages.emplace_back().text = std::string(kPromptBytes / 2, 'p');
  std::vector<std::thread> threads;
  std::vector<int> good(kCalls);
  std::vector<double> seconds(kCalls);
  for (int i = 0; i < kCalls; ++i)
    threads.emplace_back([&, i] {
      auto reply = (*model)->ask(request, {});
      good[i] = reply && reply->end == ReplyEnd::kComplete && reply->text.size() == kReplyBytes;
      seconds[i] = reply ? reply->seconds : 0;
    });
  for (std::thread& thread : threads) thread.join();
  char byte = 0;
  (void)!::write(service.to, &byte, 1);
  double peak_open = std::atof(read_line(service.from).c_str());
  ::waitpid(service.pid, nullptr, 0);

  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  int failed = kCalls - static_cast<int>(std::count(good.begin(), good.end(), 1));
  print_fact("calls open at once, as the service saw it", peak_open, "");
  print_fact("median time of a call", median_of(seconds), "s");
  bool met = print_figure(fmt::format("calls of {} that did not end well", kCalls), failed, "", 0);
  met = print_figure("peak memory while 200 calls stream", static_cast<double>(usage.ru_maxrss) / 1024, "MB",
                     500) &&
        met;
  return met ? 0 : 1;
}

}  // namespace
}  // namespace kforge::bench

int main() { return kforge::bench::run(); }
