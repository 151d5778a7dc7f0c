#include "execute/program_process.h"

#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <thread>

#include "base/files.h"
#include "base/readable.h"
#include "execute/call_deadline.h"
#include "execute/faults.h"
#include "execute/held_memory.h"
#include "execute/process_status.h"
#include "execute/quiet_time.h"
#include "execute/shown_window.h"
#include "execute/thread_times.h"
#include "execute/waiting_runners.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLastMoments{2'000};  // for a program that has reported a fault or closed its channel
constexpr milliseconds kExitLimit{5'000};    // for release() and exit handlers
constexpr milliseconds kStopCheck{100};      // a request to stop is obeyed within that
constexpr milliseconds kMemoryCheck{100};    // what programs hold together is looked at so often

struct Received {
  double waited_ns = 0;  // between its arrival and this process having a processor to read it
  KforgeMessage header{};
  std::vector<std::byte> payload;
};

double cpu_time_ns(pid_t pid) {
  clockid_t clock;
  timespec now{};
  if (pid <= 0 || ::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// The first order to stop did not reach those that were started during the call.
bool threads_started(const std::map<pid_t, ThreadTimes>& before, const std::map<pid_t, ThreadTimes>& after) {
  return std::ranges::any_of(after, [&](const auto& thread) { return !before.contains(thread.first); });
}

double waited_between(pid_t thread, const std::map<pid_t, ThreadTimes>& before,
                      const std::map<pid_t, ThreadTimes>& after) {
  const auto start = before.find(thread), end = after.find(thread);
  if (start == before.end() || end == after.end()) return 0;
  return std::max(end->second.waited_ns - start->second.waited_ns, 0.0);
}

std::string_view stage_name(std::uint32_t type) {
  switch (type) {
    case KFORGE_READY:
      return "start-up";
    case KFORGE_SETUP:
      return "set-up";
    case KFORGE_LOAD:
      return "loading";
    case KFORGE_PREPARE:
      return "prepare";
    case KFORGE_CALL:
      return "a call";
    case KFORGE_UPLOAD:
      return "the upload before a call";
    case KFORGE_DOWNLOAD:
      return "the download after a call";
    case KFORGE_WINDOW:
    case KFORGE_SHOW:
      return "the look at the device's memory";
    default:
      return "the end";
  }
}

// Of a program that is started anew for every run.
Failure failure_of_run(const Received& received) {
  const std::string_view text(reinterpret_cast<const char*>(received.payload.data()),
                              received.payload.size());
  const std::size_t line_end = std::min(text.find('\n'), text.size());
  switch (received.header.value) {
    case KFORGE_FAILED_SHAPE:
      return WrongShape{printable_tail(text)};
    case KFORGE_FAILED_LEFT_OVER:
      return Rejected{Gate::kAfterReturn, printable_tail(text)};
    default:
      return Crash{printable_tail(text.substr(0, line_end)), printable_tail(text.substr(line_end))};
  }
}

// The environment that fixes the number of threads for OpenMP, BLAS libraries and the like.
void add_thread_variables(int threads, const std::vector<int>& cpus,
                          std::map<std::string, std::string>& env) {
  std::string count = std::to_string(threads);
  for (const char* name : {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"})
    env[name] = count;
  env["OMP_DYNAMIC"] = "false";
  // A program is stopped between calls. Threads of its team that wake on one processor spin there, each
  // waiting for the other's turn, for milliseconds: each has a processor of its own.
  // Named one by one: OpenMP would look for them below /sys, which the sandbox does not show, and bind
  // nothing.
  if (threads > 1 && !cpus.empty()) {
    env["OMP_PROC_BIND"] = "true";
    for (int cpu : cpus)
      env["OMP_PLACES"] += fmt::format("{}{{{}}}", env["OMP_PLACES"].empty() ? "" : ",", cpu);
  }
}

Result<void> send_packet(int socket, const KforgeMessage& header, const void* payload,
                         std::span<const int> fds) {
  iovec parts[2] = {{const_cast<KforgeMessage*>(&header), sizeof header},
                    {const_cast<void*>(payload), header.payload}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = header.payload > 0 ? 2 : 1;
  alignas(cmsghdr) char control[CMSG_SPACE(3 * sizeof(int))] = {};
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* cmsg = CMSG_FIRSTHDR(&message);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    cmsg->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(cmsg), fds.data(), fds.size_bytes());
  }
  if (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) return fail("{}", std::strerror(errno));
  return {};
}

// The size of the packet that lies in the socket, or what recv() answers. The kernel has noted when it came.
ssize_t receive_packet(int socket, std::span<char> packet, double& waited_ns) {
  iovec data{packet.data(), packet.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(timespec))];
  msghdr message{.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  const ssize_t size = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
  waited_ns = 0;
  if (size < 0) return size;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec came, now;
    std::memcpy(&came, CMSG_DATA(header), sizeof came);
    ::clock_gettime(CLOCK_REALTIME, &now);
    waited_ns = std::max(
        static_cast<double>(now.tv_sec - came.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec - came.tv_nsec),
        0.0);
  }
  return size;
}

}  // namespace

struct ProgramProcess::State {
  std::string name;
  std::vector<std::string> argument_names;
  std::stop_token stop;
  Fd socket;
  std::shared_ptr<const TensorMemory> outputs;
  std::optional<TempDir> scratch;
  std::unique_ptr<SandboxedProcess> process;
  Usage usage;
  std::string said, printed;
  std::uint64_t together_bytes = 0;  // ProgramSpec::together_bytes
  std::optional<HeldMemory> held;
  std::optional<ShownWindow> window;  // of a program that shows the memory of its device
  Clock::time_point memory_seen = Clock::now();

  // One packet, or nothing when the program ended or the deadline passed.
  enum class Wait { kMessage, kEnded, kLate, kStopped, kTooMuchMemory };
  Wait receive(Received& received, Clock::time_point deadline);
  Step<Received> exchange(KforgeMessage message, const void* payload, std::span<const int> fds,
                          milliseconds limit, CallTime* time);
  Step<Received> await(std::uint32_t stage, milliseconds limit);
  Step<bool> launch(const ProgramSpec& spec, milliseconds load_limit, BackgroundStart* background = nullptr);
  Failure why_ended(std::uint32_t stage);
  bool ends_within(milliseconds limit);
  bool has_unsolicited() const;
  Failure forged();
  Step<bool> open_window(const BoundTask& task, const InputMemory& inputs, milliseconds limit);
  Step<bool> look_at_device(std::span<const std::uint32_t> slots, milliseconds limit);
  void note_memory();
  bool takes_too_much();
  Failure too_much_memory(std::uint32_t stage);
};

ProgramProcess::State::Wait ProgramProcess::State::receive(Received& received, Clock::time_point deadline) {
  for (;;) {
    if (stop.stop_requested()) return Wait::kStopped;
    auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
    if (stop.stop_possible()) left = std::min(left, kStopCheck);
    if (held) left = std::min(left, kMemoryCheck);
    pollfd ready{socket.get(), POLLIN, 0};
    int n = ::poll(&ready, 1, static_cast<int>(std::max<long>(left.count(), 0)));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0 && takes_too_much()) return Wait::kTooMuchMemory;
    if (n == 0 && Clock::now() < deadline) continue;
    if (n == 0) return Wait::kLate;
    char packet[4096];
    ssize_t size = receive_packet(socket.get(), packet, received.waited_ns);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size <= 0) return Wait::kEnded;
    // A packet of the wrong size can only come from a candidate that meddles: kEnded leads to a failure.
    if (size < static_cast<ssize_t>(sizeof received.header) || size > static_cast<ssize_t>(sizeof packet)) {
      received.header.type = 0;
      return Wait::kMessage;
    }
    std::memcpy(&received.header, packet, sizeof received.header);
    const auto* payload = reinterpret_cast<const std::byte*>(packet) + sizeof received.header;
    received.payload.assign(payload, payload + (size - static_cast<ssize_t>(sizeof received.header)));
    return Wait::kMessage;
  }
}

// Waits for a program that is on its way out; one that lives on is killed, and the answer is false.
bool ProgramProcess::State::ends_within(milliseconds limit) {
  auto deadline = Clock::now() + limit;
  while (!process->ended()) {
    if (Clock::now() > deadline) {
      process->kill();
      return false;
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

Failure ProgramProcess::State::why_ended(std::uint32_t stage) {
  if (!ends_within(kLastMoments))
    return Rejected{Gate::kProtocol,
                    fmt::format("the program cut the harness's own channel during {} and went on running",
                                stage_name(stage))};
  auto exit = process->wait();
  if (!exit) return Crash{fmt::format("ended during {}: {}", stage_name(stage), exit.error().message), ""};
  said = exit->err, printed = exit->out;
  return describe_exit(*exit, stage_name(stage));
}

Step<Received> ProgramProcess::State::await(std::uint32_t stage, milliseconds limit) {
  Received received;
  CallDeadline deadline(Clock::now(), limit);
  Wait ended = receive(received, deadline.at());
  while (ended == Wait::kLate && deadline.extend(longest_wait_ns(thread_times(process->pid()))))
    ended = receive(received, deadline.at());
  switch (ended) {
    case Wait::kEnded:
      return candidate_failed(why_ended(stage));
    case Wait::kLate:
      process->kill();
      return candidate_failed(
          Timeout{std::string(stage_name(stage)), static_cast<double>(limit.count()) / 1e3});
    case Wait::kStopped:
      process->kill();
      return fail("interrupted");
    case Wait::kTooMuchMemory:
      return candidate_failed(too_much_memory(stage));
    case Wait::kMessage:
      break;
  }
  switch (received.header.type) {
    case KFORGE_READY:
    case KFORGE_DONE:
      return received;
    case KFORGE_FAILED:
      return candidate_failed(failure_of_run(received));
    case KFORGE_ERROR:
      return candidate_failed(NoProgram{
          printable_tail({reinterpret_cast<const char*>(received.payload.data()), received.payload.size()})});
    case KFORGE_FAULT:
      // A program that reports its death dies of it.
      if (!ends_within(kLastMoments)) return candidate_failed(forged());
      if (received.payload.size() >= sizeof(KforgeFault)) {
        KforgeFault fault;
        std::memcpy(&fault, received.payload.data(), sizeof fault);
        auto exit = process->wait();
        return candidate_failed(
            describe_fault(fault, argument_names, stage_name(stage), exit ? exit->err : ""));
      }
      [[fallthrough]];
    default:
      process->kill();
      return candidate_failed(
          Rejected{Gate::kProtocol, fmt::format("the program wrote to the harness's own channel during {} "
                                                "(a message of type {})",
                                                stage_name(stage), received.header.type)});
  }
}

void ProgramProcess::State::note_memory() {
  pid_t pid = process->pid();
  std::size_t peak = status_bytes(pid, "VmHWM:"), shared = status_bytes(pid, "RssShmem:");
  usage.peak_bytes = std::max(usage.peak_bytes, peak > shared ? peak - shared : 0);
}

// Looked at from time to time: while it computes for long, and else between its calls.
bool ProgramProcess::State::takes_too_much() {
  if (!held || Clock::now() - memory_seen < kMemoryCheck) return false;
  memory_seen = Clock::now();
  return held->bytes() > together_bytes / 8 && HeldMemory::bytes_together() > together_bytes;
}

Failure ProgramProcess::State::too_much_memory(std::uint32_t stage) {
  const double own = static_cast<double>(held->bytes()),
               all = static_cast<double>(HeldMemory::bytes_together());
  process->kill();
  return Crash{fmt::format("stopped during {}: it held {}, and the programs of this evaluation {} together; "
                           "they may have {}",
                           stage_name(stage), readable_bytes(own), readable_bytes(all),
                           readable_bytes(static_cast<double>(together_bytes))),
               ""};
}

bool ProgramProcess::State::has_unsolicited() const {
  char peeked;
  return ::recv(socket.get(), &peeked, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

Failure ProgramProcess::State::forged() {
  process->kill();
  return Rejected{Gate::kProtocol,
                  "the program sent a result message that nobody had asked for: results were forged"};
}

// One command and its answer. The clock starts before the program can see the command (it is stopped) and
// ends when it has been told to stop again, which is the first thing that happens after its report: otherwise
// a program would report first and work then. (What it computed meanwhile cannot be read off its processor
// time: the threads of an honest team spin for a while, and the kernel's books of a running thread are up to
// a tick old.) What the stopping takes of every call is taken off with what messages take.
Step<Received> ProgramProcess::State::exchange(KforgeMessage message, const void* payload,
                                               std::span<const int> fds, milliseconds limit, CallTime* time) {
  if (has_unsolicited()) return candidate_failed(forged());
  if (!send_packet(socket.get(), message, payload, fds)) return candidate_failed(why_ended(message.type));
  const pid_t pid = process->pid();
  double cpu_before = cpu_time_ns(pid);
  std::map<pid_t, ThreadTimes> threads_before, threads_after;
  if (time) threads_before = thread_times(pid);
  auto start = Clock::now();
  process->resume();
  auto answer = await(message.type, limit);
  if (!answer || !answer->has_value()) return answer;
  process->send_stop();
  auto end = Clock::now();
  // Now, because who waits for a processor only in order to stop was not disturbed.
  if (time) threads_after = thread_times(pid);
  auto last_signal = process->stop();
  if (!last_signal) {
    process->kill();
    return candidate_failed(Timeout{fmt::format("stopping it after {}", stage_name(message.type)), 60});
  }
  // One command, one answer: a second packet was forged, and the first may have been.
  if (has_unsolicited()) return candidate_failed(forged());
  if (takes_too_much()) return candidate_failed(too_much_memory(message.type));
  if (!time) return answer;
  if (threads_started(threads_before, threads_after)) end = *last_signal;
  const TeamTimes team = team_times(threads_before, threads_after);
  time->parent_ns = std::chrono::duration<double, std::nano>(end - start).count();
  time->claimed_ns = static_cast<double>((*answer)->header.nanoseconds);
  time->cpu_ns = cpu_time_ns(pid) - cpu_before;
  time->computing_threads = team.computing;
  time->team_wait_ns = team.longest_wait_ns + (*answer)->waited_ns;
  time->delay_ns = waited_between(pid, threads_before, threads_after) + (*answer)->waited_ns;
  return answer;
}

ProgramProcess::ProgramProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProgramProcess::~ProgramProcess() = default;
const std::string& ProgramProcess::name() const { return state_->name; }
const TensorMemory& ProgramProcess::outputs() const { return *state_->outputs; }
const Usage& ProgramProcess::usage() const { return state_->usage; }

Step<bool> ProgramProcess::State::launch(const ProgramSpec& spec, milliseconds load_limit,
                                         BackgroundStart* background) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return fail("cannot create a socket pair: {}", std::strerror(errno));
  socket = Fd(pair[0]);
  Fd child_end(pair[1]);
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
  // A packet must fit whole, beside the kernel's own record of it; many systems start with less.
  const int room = 2 * KFORGE_MAX_PACKET;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);

  SandboxSpec sandbox;
  sandbox.profile = spec.profile;
  sandbox.argv = spec.argv;
  sandbox.readable = spec.readable;
  sandbox.writable = spec.writable;
  sandbox.env = spec.env;
  add_thread_variables(spec.threads, spec.cpus, sandbox.env);
  for (const std::string& name : spec.thread_variables) sandbox.env[name] = std::to_string(spec.threads);
  if (spec.scratch && spec.tier != SandboxTier::kBubblewrap) {
    KF_TRY(scratch, TempDir::create(0755));
    sandbox.writable = scratch->path();
  }
  sandbox.fds = {child_end.get()};
  sandbox.fds.insert(sandbox.fds.end(), spec.extra_fds.begin(), spec.extra_fds.end());
  sandbox.cpus = spec.cpus;
  sandbox.limits = spec.limits;
  KF_TRY(process, start_sandboxed(sandbox, spec.tier));
  child_end.reset();
  together_bytes = spec.together_bytes;
  if (together_bytes > 0) held.emplace(process->pid());

  if (background) background->watch(*process);
  auto answer = await(KFORGE_READY, load_limit);
  if (background) background->release();
  KF_STEP(Received ready, std::move(answer));
  if (ready.header.type != KFORGE_READY || ready.header.value != KFORGE_PROTOCOL_VERSION)
    return fail_with_remedy("build KForge again",
                            fmt::format("contender {} speaks another protocol", spec.name));
  return true;
}

Step<bool> ProgramProcess::State::open_window(const BoundTask& task, const InputMemory& inputs,
                                              milliseconds limit) {
  KF_TRY(window, ShownWindow::create(task, inputs));
  std::vector<int> fds = {window->fd()};
  if (inputs.device) fds.push_back(inputs.device->get());
  KF_STEP([[maybe_unused]] Received mapped,
          exchange({KFORGE_WINDOW, 0, window->bytes(), 0}, nullptr, fds, limit, nullptr));
  return true;
}

// Gate "memory" of devices; with no slots what prepare made is learned.
Step<bool> ProgramProcess::State::look_at_device(std::span<const std::uint32_t> slots, milliseconds limit) {
  return window->look(slots, [&](std::uint64_t part) -> Step<bool> {
    const KforgeMessage message{KFORGE_SHOW, static_cast<std::uint32_t>(slots.size_bytes()), part, 0};
    KF_STEP(const Received shown, exchange(message, slots.data(), {}, limit, nullptr));
    return shown.header.value != 0;
  });
}

Step<std::unique_ptr<ProgramProcess>> ProgramProcess::start(const ProgramSpec& spec, const BoundTask& task,
                                                            const InputMemory& inputs,
                                                            milliseconds load_limit) {
  std::unique_ptr<State> state;
  if (auto ready = spec.waiting ? spec.waiting->take(spec.threads) : nullptr)
    state = std::move(ready->state_);
  const bool waited = state && !state->process->ended();
  if (!waited) state = std::make_unique<State>();
  state->name = spec.name;
  state->stop = spec.stop;
  for (const BoundArgument& argument : task.arguments) state->argument_names.push_back(argument.c_name);

  state->outputs = inputs.outputs;
  if (!state->outputs) {
    KF_TRY(TensorMemory own, TensorMemory::create(inputs.layout, KFORGE_ARENA_OUTPUTS, false));
    state->outputs = std::make_shared<const TensorMemory>(std::move(own));
  }
  if (!waited) {
    KF_STEP([[maybe_unused]] bool ready, state->launch(spec, load_limit));
  }

  std::vector<std::byte> table(2 * sizeof(std::uint32_t) +
                               inputs.layout.rows.size() * sizeof(KforgeArgumentRow));
  std::uint32_t counts[2] = {static_cast<std::uint32_t>(inputs.layout.rows.size()), inputs.layout.slots};
  std::memcpy(table.data(), counts, sizeof counts);
  std::memcpy(table.data() + sizeof counts, inputs.layout.rows.data(), table.size() - sizeof counts);
  int fds[3] = {inputs.params.fd(), inputs.inputs.fd(), state->outputs->fd()};
  KforgeMessage setup{KFORGE_SETUP, static_cast<std::uint32_t>(table.size()), 0, 0};
  KF_STEP([[maybe_unused]] Received mapped, state->exchange(setup, table.data(), fds, load_limit, nullptr));
  KF_STEP(Received loaded, state->exchange({KFORGE_LOAD, 0, 0, 0}, nullptr, {}, load_limit, nullptr));
  state->usage.has_prepare = (loaded.header.value & KFORGE_HAS_PREPARE) != 0;
  state->usage.has_transfers = (loaded.header.value & KFORGE_HAS_TRANSFERS) != 0;
  state->usage.starts_anew = spec.starts_anew;
  if (loaded.header.value & KFORGE_SHOWS_MEMORY) {
    KF_STEP([[maybe_unused]] bool opened, state->open_window(task, inputs, load_limit));
  }
  return std::unique_ptr<ProgramProcess>(new ProgramProcess(std::move(state)));
}

Step<CallTime> ProgramProcess::prepare(milliseconds limit) {
  CallTime time;
  pid_t pid = state_->process->pid();
  std::size_t before = status_bytes(pid, "RssAnon:");
  if (state_->window) state_->window->note_params();
  KF_STEP([[maybe_unused]] Received done,
          state_->exchange({KFORGE_PREPARE, 0, 0, 0}, nullptr, {}, limit, &time));
  if (state_->window) {
    KF_STEP([[maybe_unused]] bool looked, state_->look_at_device({}, limit));
  }
  std::size_t after = status_bytes(pid, "RssAnon:");
  state_->usage.setup_ns = time.parent_ns;
  state_->usage.setup_bytes = after > before ? after - before : 0;
  state_->note_memory();
  return time;
}

Step<CallTime> ProgramProcess::call(const std::vector<std::uint32_t>& slots, milliseconds limit) {
  state_->outputs->let_go();
  CallTime time;
  auto send = [&](std::uint32_t type, CallTime* timed) {
    const KforgeMessage message{type, static_cast<std::uint32_t>(slots.size() * sizeof slots[0]), 0, 0};
    return state_->exchange(message, slots.data(), {}, limit, timed);
  };
  if (state_->window) {
    // Params of a program that has prepared are those it prepared.
    if (!state_->usage.has_prepare) state_->window->note_params();
    state_->window->note_inputs(slots);
  }
  if (state_->usage.has_transfers) {
    KF_STEP([[maybe_unused]] Received uploaded, send(KFORGE_UPLOAD, nullptr));
  }
  KF_STEP(Received done, send(KFORGE_CALL, &time));
  if (state_->usage.has_transfers) {
    (state_->usage.starts_anew ? time.cpu_ns : time.device_ns) = static_cast<double>(done.header.value);
    KF_STEP(Received downloaded, send(KFORGE_DOWNLOAD, nullptr));
    if (state_->usage.starts_anew) time.stated_ns = static_cast<double>(downloaded.header.value);
  }
  if (state_->window) {
    KF_STEP([[maybe_unused]] bool looked, state_->look_at_device(slots, limit));
  }
  state_->note_memory();
  return time;
}

Result<std::unique_ptr<ProgramProcess>> ProgramProcess::start_idle(const ProgramSpec& spec,
                                                                   milliseconds limit,
                                                                   BackgroundStart* background) {
  auto state = std::make_unique<State>();
  state->name = spec.name;
  state->stop = spec.stop;
  KF_TRY(auto launched, state->launch(spec, limit, background));
  if (!launched) return fail("the runner does not start: {}", reason_text(launched.error()));
  return std::unique_ptr<ProgramProcess>(new ProgramProcess(std::move(state)));
}

Result<double> ProgramProcess::echo_ns() {
  CallTime time;
  KF_TRY(auto answer, state_->exchange({KFORGE_ECHO, 0, 0, 0}, nullptr, {}, milliseconds(5'000), &time));
  if (!answer) return fail("the runner does not answer: {}", reason_text(answer.error()));
  return time.parent_ns;
}

void ProgramProcess::linger(milliseconds duration) {
  state_->process->resume();
  std::this_thread::sleep_for(duration);
  state_->process->stop();
}

Step<bool> ProgramProcess::finish() {
  if (state_->has_unsolicited()) return candidate_failed(state_->forged());
  int others = state_->process->other_processes();
  if (others > 0)
    return candidate_failed(Rejected{
        Gate::kAfterReturn, fmt::format("{} process(es) were left running beside the program", others)});
  if (!send_packet(state_->socket.get(), {KFORGE_EXIT, 0, 0, 0}, nullptr, {}))
    return candidate_failed(state_->why_ended(KFORGE_EXIT));
  state_->process->resume();
  if (!state_->ends_within(kExitLimit))
    return candidate_failed(Timeout{"release() or exit", static_cast<double>(kExitLimit.count()) / 1e3});
  KF_TRY(SandboxExit exit, state_->process->wait());
  state_->said = exit.err;
  state_->printed = exit.out;
  if (exit.left_processes)
    return candidate_failed(
        Rejected{Gate::kAfterReturn, "processes were left running when the program ended"});
  if (exit.exit_code == 0 && exit.signal == 0 && !exit.wall_exceeded) return true;
  return candidate_failed(describe_exit(exit, "release() or exit"));
}

const std::string& ProgramProcess::said() const { return state_->said; }
const std::string& ProgramProcess::printed() const { return state_->printed; }

}  // namespace kforge
