// What an evaluation may leave behind and must not: processes, temporary files, control groups, descriptors,
// files that a kernel tried to write.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace kforge {

struct FoundProcess {
  int pid = 0;
  std::string command;  // short name, such as "cc1plus"
};
// Every process below this one, at any depth.
std::vector<FoundProcess> descendants();

class LeftoverWatch {
 public:
  // From now on orphans of this process become its children, so that none can hide, and temporary folders are
  // made below `temporary`.
  explicit LeftoverWatch(const std::filesystem::path& temporary);

  // One line for each thing that appeared since; waits a little for what is on its way out.
  std::vector<std::string> found(const std::vector<std::string>& forbidden_files = {}) const;

 private:
  std::vector<std::string> look(const std::vector<std::string>& forbidden_files) const;

  std::filesystem::path temporary_;
  int descriptors_before_ = 0;
  std::set<std::string> groups_before_;  // left by someone who was killed: not what is watched here
};

}  // namespace kforge
