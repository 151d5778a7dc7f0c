// What a Python installation has for baselines, without importing any of it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace kforge {

struct PythonFacts {
  std::filesystem::path python;
  std::map<std::string, std::string> versions;  // "numpy", "onnxruntime", "torch": only what is installed
  std::string failure;                          // not empty: this Python could not be asked, and why
};

// Asks one Python. The answer is kept under `cache_folder` until the program or one of its package folders
// changes.
PythonFacts probe_python(const std::filesystem::path& python, const std::filesystem::path& cache_folder);

// The Pythons to ask, in order: `named` alone when given, else out/venv beside the data, /usr/bin/python3,
// PATH.
std::vector<std::filesystem::path> python_candidates(const std::filesystem::path& named);

}  // namespace kforge
