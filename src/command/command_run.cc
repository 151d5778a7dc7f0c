#include "command/command_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "base/files.h"
#include "command/safetensors.h"

namespace kforge {
namespace {

// What the program finds open. Paths to them work in every language, and nothing is written to a disk.
constexpr int kInputsFd = 4, kOutputsFd = 5;
constexpr const char *kInputsPath = "/proc/self/fd/4", *kOutputsPath = "/proc/self/fd/5";
constexpr const char* kWorkFolder = "work";
constexpr std::size_t kHeaderRoom = 1 << 20, kLogRoom = 4 << 20;
constexpr int kPatienceMs = 500;  // for helpers of an interpreter that end just after it
constexpr std::size_t kLastWords = 2000;

std::string strerror_text() { return ::strerror(errno); }

Result<void> write_all(int fd, std::span<const std::byte> data, std::size_t at) {
  while (!data.empty()) {
    const ssize_t done = ::pwrite(fd, data.data(), data.size(), static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return fail("cannot write the files of a run: {}", strerror_text());
    data = data.subspan(static_cast<std::size_t>(done));
    at += static_cast<std::size_t>(done);
  }
  return {};
}

Result<void> empty_folder(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code failed;
    // A program may have taken its own folders the right to be looked into.
    fs::permissions(it->path(), fs::perms::owner_all, fs::perm_options::add | fs::perm_options::nofollow,
                    failed);
    fs::remove_all(it->path(), failed);
    if (failed)
      return fail("cannot remove what the program left in {}: {}", folder.string(), failed.message());
  }
  if (error) return fail("cannot look into {}: {}", folder.string(), error.message());
  return {};
}

Result<void> put_file(const fs::path& path, const PackageFile& file) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return fail("cannot make {}: {}", path.parent_path().string(), error.message());
  KF_TRY_VOID(write_scratch_file(path, file.content));
  if (::chmod(path.c_str(), file.executable ? 0555 : 0444) != 0)
    return fail("cannot set the mode of {}: {}", path.string(), strerror_text());
  return {};
}

void replace_all(std::string& text, std::string_view from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// Processes of the program that outlived it. They are this process's children now: it adopts orphans.
std::vector<pid_t> left_over() {
  std::vector<pid_t> found;
  std::ifstream children("/proc/thread-self/children");
  for (pid_t pid = 0; children >> pid;) found.push_back(pid);
  return found;
}

// Whether nothing of the program runs any more.
bool all_ended(int patience_ms) {
  for (;; ::usleep(1000)) {
    for (;;) {
      const pid_t ended = ::waitpid(-1, nullptr, WNOHANG);
      if (ended < 0 && errno == EINTR) continue;
      if (ended < 0) return true;  // there is no child
      if (ended == 0) break;
    }
    if (patience_ms-- <= 0) return false;
  }
}

// Where the sandbox does not show them here, whoever started this process ends them with it.
void end_all() {
  constexpr int kMostRounds = 50;  // each may find children of what the one before it ended
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<pid_t> found = left_over();
    for (const pid_t pid : found) ::kill(pid, SIGKILL);
    if (all_ended(20) || found.empty()) return;
  }
}

// This process's own, with the program's folder for all that it keeps.
std::vector<std::string> environment(const std::string& folder) {
  std::vector<std::string> variables = {"HOME=" + folder, "TMPDIR=" + folder};
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text(*entry);
    if (!text.starts_with("HOME=") && !text.starts_with("TMPDIR=")) variables.emplace_back(text);
  }
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// In the new process: only calls that are allowed after fork().
[[noreturn]] void become(const std::vector<char*>& argv, const std::vector<char*>& env, const char* folder,
                         int in, int out, int log, std::size_t most_bytes) {
  const rlimit size{most_bytes, most_bytes};
  const int nothing = ::open("/dev/null", O_RDONLY);
  // Above all numbers they go to, so that none closes another.
  const int high_in = ::fcntl(in, F_DUPFD, 64), high_out = ::fcntl(out, F_DUPFD, 64),
            high_log = ::fcntl(log, F_DUPFD, 64);
  ::dup2(nothing, 0);
  ::dup2(high_log, 1);
  ::dup2(high_log, 2);
  ::dup2(high_in, kInputsFd);
  ::dup2(high_out, kOutputsFd);
  ::close(KFORGE_CONTROL_FD);
  ::close_range(kOutputsFd + 1, ~0U, 0);
  ::setpgid(0, 0);
  ::setrlimit(RLIMIT_FSIZE, &size);
  if (::chdir(folder) == 0) ::execve(argv[0], argv.data(), env.data());
  const char* why = ::strerror(errno);
  (void)!::write(2, why, ::strlen(why));
  ::_exit(127);
}

std::string how_it_ended(int status, std::size_t most_bytes) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ)
    return fmt::format("it wrote a file larger than {} bytes, which is all its outputs need", most_bytes);
  if (WIFSIGNALED(status)) return fmt::format("SIG{}", ::sigabbrev_np(WTERMSIG(status)));
  return fmt::format("it ended with code {}", WEXITSTATUS(status));
}

CommandStep<double> failed_run(KforgeFailedKind kind, std::string text) {
  return std::expected<double, CommandFailure>(std::unexpect, CommandFailure{kind, std::move(text)});
}

// What a runner must know of the task, besides what the files say of their tensors.
std::map<std::string, std::string> metadata_of(const CommandPackage& package) {
  std::string arguments, params, symbols;
  auto add = [](std::string& list, const std::string& word) { list += (list.empty() ? "" : " ") + word; };
  for (const CommandTensor& tensor : package.tensors) {
    add(arguments, tensor.name);
    if (tensor.param) add(params, tensor.name);
  }
  for (const auto& [name, value] : package.symbols) add(symbols, fmt::format("{}={}", name, value));
  return {{"arguments", arguments}, {"params", params}, {"symbols", symbols}};
}

// The last "call_ns NUMBER" of what a program printed.
double stated_ns(const std::string& said) {
  constexpr std::string_view kWord = "call_ns ";
  const std::size_t at = said.rfind(kWord);
  double ns = 0;
  if (at != std::string::npos)
    std::from_chars(said.data() + at + kWord.size(), said.data() + said.size(), ns);
  return ns > 0 && ns < 1e15 ? ns : 0;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

}  // namespace

CommandRun::CommandRun(CommandPackage package, Tensors tensors, fs::path folder)
    : package_(std::move(package)), tensors_(std::move(tensors)), folder_(std::move(folder)) {}

std::vector<std::string> CommandRun::command(std::size_t calls) const {
  std::vector<std::string> words = package_.argv;
  for (std::string& word : words) {
    replace_all(word, "${program}", (folder_ / package_.program).string());
    replace_all(word, "${platform}", (folder_ / kPlatformFolder).string());
  }
  words.insert(words.end(),
               {"--calls", std::to_string(calls), "--inputs", kInputsPath, "--outputs", kOutputsPath});
  return words;
}

std::size_t CommandRun::most_output_bytes(std::size_t calls) const {
  std::size_t bytes = kHeaderRoom;
  for (const CommandTensor& tensor : package_.tensors) {
    std::size_t own = size_of(tensor.dtype) * calls;
    for (const std::int64_t size : tensor.shape) own *= static_cast<std::size_t>(size);
    if (tensor.written) bytes += own + 64;
  }
  return std::max(bytes, kLogRoom);
}

// Params once; every other tensor with one more axis in front, over the calls. Outputs hold what the parent
// put there, which no arithmetic makes: what a program leaves unwritten is seen.
Result<Fd> CommandRun::write_tensors(std::span<const std::uint32_t> slots, bool outputs) const {
  SafeTensors file;
  for (const CommandTensor& tensor : package_.tensors) {
    if (!(outputs ? tensor.written : tensor.read)) continue;
    std::vector<std::int64_t> shape = tensor.shape;
    if (!tensor.param) shape.insert(shape.begin(), static_cast<std::int64_t>(slots.size()));
    file.tensors.push_back({tensor.name, tensor.dtype, shape});
  }
  if (!outputs) file.metadata = metadata_of(package_);
  const std::string header = safetensors_header(file);
  const std::size_t bytes = file.tensors.empty() ? header.size() : file.tensors.back().end;
  KF_TRY(Fd made, make_memfd(outputs ? "outputs" : "inputs", bytes));
  KF_TRY_VOID(write_all(made.get(), std::as_bytes(std::span(header)), 0));
  for (std::size_t t = 0; t < package_.tensors.size(); ++t) {
    const SafeTensor* at = file.find(package_.tensors[t].name);
    if (!at) continue;
    const std::size_t calls = package_.tensors[t].param ? 1 : slots.size();
    for (std::size_t c = 0; c < calls; ++c)
      KF_TRY_VOID(write_all(made.get(), tensors_(t, slots[c]), at->begin + c * (at->bytes() / calls)));
  }
  return made;
}

Result<void> CommandRun::stage(std::span<const std::uint32_t> slots) {
  calls_ = 0;
  KF_TRY_VOID(empty_folder(folder_));
  for (const PackageFile& file : package_.files) KF_TRY_VOID(put_file(folder_ / file.path, file));
  std::error_code error;
  fs::create_directories(folder_ / kWorkFolder, error);
  fs::create_directories(folder_ / kPlatformFolder, error);
  if (error) return fail("cannot make a folder in {}: {}", folder_.string(), error.message());
  KF_TRY(inputs_, write_tensors(slots, false));
  KF_TRY(outputs_, write_tensors(slots, true));
  if (::fcntl(inputs_.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return fail("cannot seal the inputs: {}", strerror_text());
  KF_TRY(log_, make_memfd("log", 0));
  ::fcntl(log_.get(), F_SETFL, O_APPEND);
  calls_ = slots.size();
  return {};
}

std::string CommandRun::last_words() const {
  struct stat about {};
  ::fstat(log_.get(), &about);
  std::string text(std::min<std::size_t>(kLastWords, static_cast<std::size_t>(about.st_size)), '\0');
  const ssize_t got =
      ::pread(log_.get(), text.data(), text.size(), about.st_size - static_cast<off_t>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

CommandStep<double> CommandRun::run() {
  if (calls_ == 0) return fail("the run was not staged");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const std::string work = (folder_ / kWorkFolder).string();
  std::vector<std::string> words = command(calls_), variables = environment(work);
  const std::vector<char*> argv = pointers_to(words), env = pointers_to(variables);
  const std::size_t most = most_output_bytes(calls_);
  const pid_t pid = ::fork();
  if (pid < 0) return fail("cannot start a process: {}", strerror_text());
  if (pid == 0) become(argv, env, work.c_str(), inputs_.get(), outputs_.get(), log_.get(), most);
  int status = 0;
  rusage used{};
  while (::wait4(pid, &status, 0, &used) < 0 && errno == EINTR) {
  }
  if (!all_ended(kPatienceMs)) {
    end_all();
    return failed_run(KFORGE_FAILED_LEFT_OVER, "processes of the program went on running when it had ended");
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return failed_run(KFORGE_FAILED_CRASH, how_it_ended(status, most) + "\n" + last_words());
  auto ns = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_usec) * 1e3;
  };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

CommandStep<double> CommandRun::collect(std::span<const std::uint32_t> slots) {
  auto wrong = [](std::string text) { return failed_run(KFORGE_FAILED_SHAPE, std::move(text)); };
  struct stat about {};
  ::fstat(outputs_.get(), &about);
  if (about.st_size == 0) return wrong("the outputs file is empty");
  // The program is gone, and nobody else has the file: its size stays what it is.
  KF_TRY(Mapping file, Mapping::map(outputs_.get(), static_cast<std::size_t>(about.st_size), false));
  auto read = read_safetensors(file.bytes());
  if (!read) return wrong("the outputs file is no safetensors file: " + read.error().message);
  for (std::size_t t = 0; t < package_.tensors.size(); ++t) {
    const CommandTensor& tensor = package_.tensors[t];
    if (!tensor.written) continue;
    const SafeTensor* found = read->find(tensor.name);
    if (!found) return wrong(fmt::format("output {} is not in the outputs file", tensor.name));
    std::vector<std::int64_t> shape = tensor.shape;
    shape.insert(shape.begin(), static_cast<std::int64_t>(slots.size()));
    if (found->dtype != tensor.dtype || found->shape != shape)
      return wrong(fmt::format("output {} is {} {}, and should be {} {}, one row for each call", tensor.name,
                               safetensors_name(found->dtype), shape_text(found->shape),
                               safetensors_name(tensor.dtype), shape_text(shape)));
    const std::size_t each = found->bytes() / slots.size();
    for (std::size_t c = 0; c < slots.size(); ++c) {
      const std::span<std::byte> to = tensors_(t, slots[c]);
      if (to.size() != each) return fail("tensor {} has another size than its task says", tensor.name);
      std::copy_n(file.data() + found->begin + c * each, each, to.data());
    }
  }
  return std::expected<double, CommandFailure>(stated_ns(last_words()));
}

}  // namespace kforge
