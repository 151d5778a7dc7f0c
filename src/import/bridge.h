// The conversation with the user's PyTorch: python/kforge_bridge_main.py in the sandbox, one request at a
// time.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/files.h"
#include "base/result.h"
#include "baseline/python_probe.h"
#include "sandbox/sandbox.h"

namespace kforge {

// Numbers at the top of the user's file that are other than it says.
using Values = std::map<std::string, std::int64_t>;

// What the user's file did wrong, or what it lacks.
struct BridgeFailure {
  std::string message;  // "RuntimeError: mat1 and mat2 shapes cannot be multiplied"
  std::string kind;     // the exception's name; "died", "hung" where there was none
  int line = 0;         // of the user's file; 0: none is known

  // Other sizes cannot help: a name is missing, the syntax is wrong, the machine lacks something.
  bool whatever_the_sizes() const;
};

class Bridge {
 public:
  // Starts nothing yet. `source` is copied to where the sandbox may read it.
  static Result<std::unique_ptr<Bridge>> open(const PythonFacts& python, const std::filesystem::path& source,
                                              SandboxTier tier);
  ~Bridge();

  // The answer to {"do": request, ...}. After a failure that ended the process the next request starts it
  // again.
  std::expected<nlohmann::json, BridgeFailure> ask(nlohmann::json request,
                                                   std::chrono::seconds limit = std::chrono::seconds(120));

  // What the names of the files that a request makes begin with; another one every time.
  std::string new_prefix() { return fmt::format("f{}_", ++prefixes_); }
  // A file that was made: plain, and no larger than allowed.
  Result<std::string> product(const std::string& name, std::size_t limit) const {
    return read_product(writable_, name, limit);
  }

  // A file that requests may read, in folder given(): not where the module could have put something else.
  Result<void> give(const std::string& name, std::string_view content) const;
  const std::filesystem::path& given() const { return given_; }

  // Frees the room of a file that was made.
  void drop(const std::string& name) const;
  // Messages name the user's file so.
  void show_as(std::filesystem::path path) { shown_ = std::move(path); }

  // The failure as a message for the user: file, line, what to do.
  Error error(const BridgeFailure& failure) const;

 private:
  Bridge() = default;
  Result<void> start();
  BridgeFailure ended(bool hung);

  PythonFacts python_;
  std::filesystem::path shown_;  // the path as the user gave it
  SandboxTier tier_ = SandboxTier::kBubblewrap;
  TempDir root_;
  std::filesystem::path source_, writable_, given_;
  int prefixes_ = 0;
  Fd channel_;
  std::string unread_;
  std::unique_ptr<SandboxedProcess> process_;
};

}  // namespace kforge
