#include "profile/stage.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <future>
#include <random>

#include "base/subprocess.h"
#include "execute/tensor_memory.h"
#include "platform/substitute.h"
#include "profile/caller/plan.h"
#include "task/inputs.h"

namespace kforge {
namespace {

constexpr std::size_t kMostTensorBytes = std::size_t{8} << 30;
constexpr std::size_t kMostProduct = 256 << 20, kMostOutput = 32 << 20;

Result<void> make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) fs::permissions(folder, fs::perms(0755), error);
  if (error) return fail("cannot create {}: {}", folder.string(), error.message());
  return {};
}

Result<void> copy_program(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_file(from, to, fs::copy_options::skip_existing, error);
  if (!error) fs::permissions(to, fs::perms(0755), error);
  if (error) return fail("cannot copy {} to {}: {}", from.string(), to.string(), error.message());
  return {};
}

// A watcher needs a moment to begin; the program waits for its go.
constexpr unsigned kAttachMicroseconds = 400'000;

Result<Command> watch_command(const ProfileStage::Order& order, pid_t pid) {
  Command command;
  KF_TRY(command.argv, substitute(order.watcher, {{"pid", {std::to_string(pid)}}}));
  command.env = std::map<std::string, std::string>{{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}};
  command.timeout = std::chrono::milliseconds(static_cast<long>(order.timeout_seconds * 1e3) + 2'000);
  return command;
}

std::size_t page_up(std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

std::string_view plan_word(Role role) {
  switch (role) {
    case Role::kParam:
      return "param";
    case Role::kInput:
      return "input";
    case Role::kInout:
      return "inout";
    case Role::kOutput:
      return "output";
  }
  return "input";
}

}  // namespace

Result<ProfileStage> ProfileStage::create(const ProfileInput& input) {
  ProfileStage stage;
  stage.input_ = &input;
  KF_TRY(stage.root_, TempDir::create(0755));
  KF_TRY_VOID(stage.place_sources());
  return stage;
}

Result<void> ProfileStage::place_sources() {
  KF_TRY_VOID(make_folder(sources()));
  if (!input_->candidate) return {};
  for (const SourceFile& file : input_->candidate->files) {
    if (!good_source_name(file.name)) continue;
    KF_TRY_VOID(make_folder((sources() / file.name).parent_path()));
    KF_TRY_VOID(write_file_atomic(sources() / file.name, file.content));
  }
  return {};
}

Result<fs::path> ProfileStage::place_artefact(const fs::path& artefact, const std::string& hash) {
  KF_TRY_VOID(make_folder(folder() / hash.substr(0, 12)));
  fs::path place = folder() / hash.substr(0, 12) / "kernel.so";
  KF_TRY_VOID(copy_program(artefact, place));
  return place;
}

Result<std::vector<std::string>> ProfileStage::place_helper(const fs::path& helper) {
  fs::path place = folder() / helper.filename();
  KF_TRY_VOID(copy_program(helper, place));
  return std::vector<std::string>{place.string()};
}

Result<fs::path> ProfileStage::write_file(const std::string& name, std::string_view content) {
  KF_TRY_VOID(write_file_atomic(folder() / name, content));
  return folder() / name;
}

// One call's worth of values, as the task says they are; drawn anew for each profile.
Result<void> ProfileStage::make_tensors() {
  if (tensors_.valid()) return {};
  const BoundTask& task = *input_->task;
  std::size_t bytes = 0;
  for (const BoundArgument& argument : task.arguments) bytes += page_up(argument.bytes());
  if (bytes > kMostTensorBytes) return fail("the tensors are too large to be profiled ({} MiB)", bytes >> 20);
  if (task.arguments.size() > caller::kMostTensors)
    return fail("the task has too many tensors to be profiled");
  KF_TRY(Fd fd, make_memfd("profile-tensors", bytes));
  std::byte* base = static_cast<std::byte*>(
      bytes ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0) : nullptr);
  if (base == MAP_FAILED) return fail("cannot map {} MiB of tensors", bytes >> 20);
  std::uint64_t seed = std::random_device{}();
  std::size_t offset = 0;
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    const BoundArgument& argument = task.arguments[i];
    if (argument.role != Role::kOutput)
      fill_argument(argument, InputKind::kOwn, seed, i, {base + offset, argument.bytes()});
    plan_ += fmt::format("{} {} {}\n", plan_word(argument.role), offset, argument.bytes());
    offset += page_up(argument.bytes());
  }
  if (base) ::munmap(base, bytes);
  KF_TRY_VOID(write_file("plan.txt", plan_));
  KF_TRY(setting_, run_setting(*input_->platform));
  KF_TRY_VOID(copy_program(setting_.programs.call, folder() / "kforge-call"));
  tensors_ = std::move(fd);
  return {};
}

Result<std::vector<std::string>> ProfileStage::call_command(const fs::path& artefact,
                                                            const std::vector<std::string>& options) {
  KF_TRY_VOID(make_tensors());
  std::vector<std::string> command = setting_.prefix;
  command.push_back((folder() / "kforge-call").string());
  if (input_->platform->kind == PlatformKind::kDevice && !input_->platform->emulates_device())
    command.emplace_back("--call");  // it is kforge-device
  command.insert(command.end(), {artefact.string(), (folder() / "plan.txt").string()});
  command.insert(command.end(), options.begin(), options.end());
  return command;
}

fs::path ProfileStage::next_output(const std::string& product) {
  return folder() / fmt::format("work{}", orders_) / product;
}

Result<Said> ProfileStage::run(const Order& order) {
  fs::path work = next_output("x").parent_path();
  ++orders_;
  KF_TRY_VOID(make_folder(work));
  SandboxSpec spec;
  spec.profile = order.profile;
  spec.argv = order.argv;
  if (input_->platform) spec.readable = input_->platform->readable();
  spec.readable.push_back(folder());
  spec.readable.insert(spec.readable.end(), order.readable.begin(), order.readable.end());
  spec.writable = work;
  std::string threads = std::to_string(order.threads);
  if (input_->platform) spec.env = input_->platform->sandbox.env;
  spec.env.insert({{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}});
  spec.env["HOME"] = work.string();
  spec.env["OMP_NUM_THREADS"] = spec.env["OMP_THREAD_LIMIT"] = threads;
  spec.env["OMP_DYNAMIC"] = "false";
  Fd go_read, go_write;
  if (!order.watcher.empty()) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail("cannot make a pipe: {}", std::strerror(errno));
    go_read = Fd(ends[0]), go_write = Fd(ends[1]);
  }
  if (order.with_tensors) {
    spec.fds = {tensors_.get()};
    if (go_read.valid()) spec.fds.push_back(go_read.get());
    if (input_->machine) spec.cpus = input_->machine->cpus;
  }
  spec.limits.wall = std::chrono::milliseconds(static_cast<long>(order.timeout_seconds * 1e3));
  spec.limits.cpu_seconds = static_cast<std::uint64_t>(order.timeout_seconds * (order.threads + 1)) + 5;
  spec.limits.memory_bytes = 24ull << 30;
  if (input_->platform) spec.limits.reserves_addresses = input_->platform->sandbox.reserves_addresses;
  spec.limits.file_bytes = kMostProduct;
  spec.limits.processes = static_cast<std::uint64_t>(4 * order.threads + 128);
  spec.limits.output_bytes = kMostOutput;
  KF_TRY(auto process, start_sandboxed(spec, input_->tier));
  Said said;
  std::future<Result<Finished>> watching;
  if (go_write.valid()) {
    for (int i = 0; i < 400 && process->pid() == 0 && !process->ended(); ++i) ::usleep(5'000);
    KF_TRY(Command watcher, watch_command(order, process->pid()));
    watching = std::async(std::launch::async, [watcher] { return run_command(watcher); });
    ::usleep(kAttachMicroseconds);
    if (::write(go_write.get(), &caller::kGo, 1) != 1) process->kill();
  }
  KF_TRY(SandboxExit exit, process->wait());
  said.out = std::move(exit.out);
  said.err = std::move(exit.err);
  if (watching.valid()) {
    KF_TRY(Finished watched, watching.get());
    said.out = std::move(watched.out), said.err = std::move(watched.err);
  }
  if (exit.wall_exceeded) return fail("took longer than {:.0f} s", order.timeout_seconds);
  if (exit.signal != 0) return fail("was ended by signal {}", exit.signal);
  if (!order.product.empty()) {
    auto product = read_product(work, order.product, kMostProduct);
    if (product) said.product = std::move(*product);
  }
  return said;
}

}  // namespace kforge
