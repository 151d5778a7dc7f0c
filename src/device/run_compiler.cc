#include "device/run_compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/files.h"

namespace kforge {
namespace {

constexpr std::size_t kLargestLog = 1 << 20;

class SpawnActions {
 public:
  SpawnActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

}  // namespace

Result<CompilerRun> run_compiler(const std::vector<std::string>& argv, const fs::path& folder) {
  const fs::path log = folder / "compiler.log";
  SpawnActions actions;
  ::posix_spawn_file_actions_addopen(actions.get(), 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(actions.get(), 1, 2);
  ::posix_spawn_file_actions_addchdir_np(actions.get(), folder.c_str());
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t pid = 0;
  if (const int error = ::posix_spawn(&pid, argv[0].c_str(), actions.get(), nullptr, words.data(), environ))
    return fail("cannot start {}: {}", argv[0], std::strerror(error));
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return fail("cannot wait for {}: {}", argv[0], std::strerror(errno));
  CompilerRun run;
  run.ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  KF_TRY(run.log, read_file(log, kLargestLog));
  return run;
}

}  // namespace kforge
