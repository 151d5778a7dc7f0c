// A program for a command platform made ready to run: what kforge-command is given, in one file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/dtype.h"

namespace kforge {

// Where the files of a package lie while it runs, below its own folder.
inline constexpr const char *kProgramFolder = "program", *kPlatformFolder = "platform";

struct PackageFile {
  std::string path;  // below one of the two folders: "program/kernel.py"
  std::string content;
  bool executable = false;
};

struct CommandTensor {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  bool param = false;    // the same in every call of a run
  bool read = true;      // its values are in the inputs file
  bool written = false;  // they are wanted in the outputs file
};

struct CommandPackage {
  // `${program}` and `${platform}` in it stand for paths that are known when it runs. KForge adds
  // --calls n --inputs FILE --outputs FILE.
  std::vector<std::string> argv;
  std::vector<PackageFile> files;
  std::string program;                          // what `${program}` stands for: "program/kernel.py"
  std::vector<CommandTensor> tensors;           // in the order of the task's arguments
  std::map<std::string, std::int64_t> symbols;  // dimensions and tunables
};

std::string to_bytes(const CommandPackage& package);
Result<CommandPackage> command_package_from(std::string_view bytes);

}  // namespace kforge
