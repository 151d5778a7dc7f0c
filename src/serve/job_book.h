// Work that was started from a page: searches and evaluations, each this program in a process of its own, as
// the assistants' jobs are (mcp/jobs.h). Known while the server lives; their runs and results stay in the
// store.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "mcp/jobs.h"
#include "serve/list_view.h"

namespace kforge::serve {

// What a form asks for, checked.
struct JobOrder {
  std::string kind;  // "forge", "eval"
  std::string task, platform;
  std::vector<std::string> arguments;  // of the command, behind the task
  std::string kernel_file, kernel;     // of an evaluation: the name its file must have, and the program
  std::string plan;                    // plan.json beside it; empty: none
};

struct JobView {
  std::string id, kind, task, platform, started_at;
  bool ended = false, stopping = false;
  double seconds = 0;
  std::string run, result;  // ids in the store, once they are known
  std::string outcome;      // once it has ended: what came of it, in words
  std::string doing;        // what it said last

  std::string state() const { return ended ? "ended" : stopping ? "stopping" : "running"; }
};

class JobBook {
 public:
  // `home`: where kernels and the folders of runs are kept.
  JobBook(const mcp::OwnProgram& program, const std::filesystem::path& home);

  Result<std::string> start(const JobOrder& order);
  // Asks it to end with the best so far.
  Result<void> stop(const std::string& id);
  Result<JobView> view(const std::string& id);
  // The job that works on a run; "" where it was started elsewhere.
  std::string job_of(const std::string& run);
  // The newest first.
  std::vector<JobView> all();

 private:
  struct Entry {
    std::string kind, task, platform, started_at, run;
    std::filesystem::path folder;  // its kernel, or what it wrote
    bool stopping = false;
    std::size_t number = 0;
  };
  Result<JobView> look(const std::string& id, Entry& entry);

  mcp::Jobs jobs_;
  std::filesystem::path home_;
  std::mutex mutex_;
  std::map<std::string, Entry> entries_;
};

Json to_json(const JobView& job);

}  // namespace kforge::serve
