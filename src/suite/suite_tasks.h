// The tasks of a suite: what `kforge suite DIR|NAME` goes through.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kforge {

struct SuiteTask {
  std::string name;  // "level2/12_gemm", "core/softmax": unique in a suite, and of two parts
  std::string spec;  // what `kforge forge` takes: a path, or the name of a shipped task

  std::string level() const { return name.substr(0, name.find('/')); }
  std::string own_name() const { return name.substr(name.find('/') + 1); }
};

// `where` is a suite by name ("core"), or a folder: of tasks, of folders of tasks (levels), or a task itself.
// A task is a folder with task.toml, a file <name>.onnx, or a PyTorch module <name>.py. This is the one place
// that knows what a folder of tasks looks like. Sorted as people count: 2_x comes before 10_x.
Result<std::vector<SuiteTask>> list_suite_tasks(std::string_view where);

// Those whose name, or its part behind the level, a pattern matches ('*' stands for any characters); all
// where there is no pattern. An Error when that leaves none.
Result<std::vector<SuiteTask>> only_tasks(std::vector<SuiteTask> tasks,
                                          const std::vector<std::string>& patterns);

}  // namespace kforge
