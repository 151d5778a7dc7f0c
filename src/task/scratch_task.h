// For tests: a task made from text, through the same files a user writes.
#pragma once

#include <gtest/gtest.h>

#include "base/files.h"
#include "task/task.h"

namespace kforge {

class ScratchTask {
 public:
  ScratchTask(std::string_view toml, std::string_view graph) : folder_(*TempDir::create()) {
    EXPECT_TRUE(write_file_atomic(folder_.path() / "task.toml", toml));
    EXPECT_TRUE(write_file_atomic(folder_.path() / "graph.onnx.txt", graph));
    auto loaded = load_task(folder_.path().string());
    if (loaded)
      task_ = std::move(*loaded);
    else
      error_ = loaded.error().message;
  }

  const Task& task() const {
    EXPECT_EQ(error_, "");
    return task_;
  }
  const std::string& error() const { return error_; }

  BoundTask bind(std::string_view set = "small") const {
    auto bound = bind_task(task(), set);
    EXPECT_TRUE(bound) << (bound ? "" : bound.error().message);
    return bound ? std::move(*bound) : BoundTask{};
  }

 private:
  TempDir folder_;
  Task task_;
  std::string error_;
};

}  // namespace kforge
