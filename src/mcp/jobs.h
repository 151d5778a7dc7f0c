// Work that takes longer than a call may: started, asked after, stopped.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "mcp/own_program.h"

namespace kforge::mcp {

class Jobs {
 public:
  // `home`: where the folders of jobs are made.
  Jobs(const OwnProgram& program, fs::path home) : program_(&program), home_(std::move(home)) {}

  struct Status {
    bool ended = false;
    double seconds = 0;
    std::string doing;                                 // what it said last
    std::optional<Result<OwnProgram::Answer>> answer;  // once it has ended
  };

  // The folder of the job stands for kFolder in the arguments. At most kMost at once.
  static constexpr const char* kFolder = "{folder}";
  static constexpr std::size_t kMost = 4;
  Result<std::string> start(std::vector<std::string> arguments);
  // Waits up to `seconds` for its end, or until `stop`. An Error: there is no such job.
  Result<Status> wait(const std::string& id, double seconds, const std::stop_token& stop);
  // Asks it to end with what it has.
  Result<void> stop(const std::string& id);

  // Where a job of this id writes, whichever server has it.
  fs::path folder(const std::string& id) const { return home_ / id; }

  // Stops all and waits for them.
  ~Jobs();

 private:
  struct Job {
    std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
    double seconds = 0;
    std::string doing;
    std::optional<Result<OwnProgram::Answer>> answer;
    std::jthread thread;
  };
  Result<Job*> find(const std::string& id);

  const OwnProgram* program_;
  fs::path home_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Job>> jobs_;
};

}  // namespace kforge::mcp
