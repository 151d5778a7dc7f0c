// What a Python installation has for baselines, without importing any of it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kforge {

struct PythonFacts {
  std::filesystem::path python;
  std::map<std::string, std::string> versions;  // "numpy", "onnxruntime", ...: only what is there
  std::vector<std::string> folders;             // where it and its packages lie
  std::string failure;                          // not empty: this Python could not be asked, and why

  // What a sandbox must show besides the system: a virtual environment, or a Python of the user's own.
  std::vector<std::filesystem::path> folders_outside_usr() const;
};

// Asks one Python. The answer is kept under `cache_folder` until the program or one of its package folders
// changes.
PythonFacts probe_python(const std::filesystem::path& python, const std::filesystem::path& cache_folder);

// The Pythons to ask, in order: `named`, those listed in KFORGE_PYTHON, an active virtual or conda
// environment, out/venv and out/torch2 beside the data (scripts/setup.sh), /usr/bin/python3, PATH. Where the
// named one is not there it is the only one: what the user meant must not be replaced silently.
std::vector<std::filesystem::path> python_candidates(const std::filesystem::path& named);

// The first of them that has torch; one of version 2 or newer before others.
Result<PythonFacts> python_with_torch(const std::filesystem::path& named);

// Whether version a ("2.15.0+cu132") is newer than b, by their numbers.
bool is_newer(std::string_view a, std::string_view b);

}  // namespace kforge
