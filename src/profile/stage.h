// The place where profilers work on one program: a folder they may read (program, sources, the caller), one
// they may write, and the tensors the program is called on.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/files.h"
#include "execute/staged_program.h"
#include "profile/findings.h"
#include "sandbox/sandbox.h"

namespace kforge {

class ProfileStage {
 public:
  static Result<ProfileStage> create(const ProfileInput& input);

  // A copy of a build inside the stage; the same name for the same flags.
  Result<fs::path> place_artefact(const fs::path& artefact, const std::string& hash);
  Result<std::vector<std::string>> place_helper(
      const fs::path& helper);  // a copy of a program of KForge's own
  Result<fs::path> write_file(const std::string& name, std::string_view content);  // readable for profilers
  const fs::path& folder() const { return root_.path(); }
  fs::path sources() const { return root_.path() / "src"; }

  // Runs a command inside the sandbox. `product` is a file it leaves in its own folder.
  struct Order {
    std::vector<std::string> argv;
    SandboxProfile profile = SandboxProfile::kCompile;
    bool with_tensors = false;
    int threads = 1;
    double timeout_seconds = 30;
    std::string product;
    std::vector<fs::path> readable;
    // A trusted command that watches the program from outside ("perf stat -p ${pid}"); what it says is the
    // answer.
    std::vector<std::string> watcher;
  };
  Result<Said> run(const Order& order);

  // Where a product will be, for ${output}: a fresh folder for each order.
  fs::path next_output(const std::string& product);

  // The command that calls the kernel of an artefact.
  Result<std::vector<std::string>> call_command(const fs::path& artefact,
                                                const std::vector<std::string>& options);

 private:
  Result<void> place_sources();
  Result<void> make_tensors();

  const ProfileInput* input_ = nullptr;
  TempDir root_;
  RunSetting setting_;
  Fd tensors_;
  std::string plan_;
  int orders_ = 0;
};

}  // namespace kforge
