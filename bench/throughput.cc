// Many candidates: `kforge eval --check` over 50 different small kernels with two workers, against a bare g++
// that compiles the same files with two workers, and against PyTorch's inline extensions where torch is
// installed.
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/subprocess.h"
#include "figures.h"
#include "setting.h"
#include "task/task.h"

namespace kforge::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kKernelCount = 50, kWorkers = 2;

struct Work {
  std::string task;
  fs::path kernel, include;
};

// Honest kernels without a claim of generality, each in several copies that differ in content, so that no
// cache helps.
Result<std::vector<Work>> make_work(const fs::path& folder) {
  struct Base {
    const char *task, *file;
  };
  static constexpr Base kBases[] = {{"core/relu", "relu_loops.cc"},
                                    {"core/relu", "relu_bit_masks.cc"},
                                    {"core/softmax", "softmax_three_passes.cc"},
                                    {"core/matmul", "matmul_loops.cc"},
                                    {"core/matmul", "matmul_split_k.cc"},
                                    {"core/layer_norm", "layer_norm_welford.cc"},
                                    {"core/mse_loss", "mse_reduction.cc"},
                                    {"core/sum_reduction", "sum_kahan.cc"},
                                    {"fusion/gemm_scale_leakyrelu", "gemm_plain.cc"},
                                    {"core/gelu", "gelu_erf.cc"}};
  auto stamp = std::to_string(Clock::now().time_since_epoch().count());
  std::vector<Work> work;
  for (int i = 0; i < kKernelCount; ++i) {
    const Base& base = kBases[static_cast<std::size_t>(i) % std::size(kBases)];
    Work one{base.task, folder / fmt::format("kernel{}.cc", i), folder / fmt::format("task{}", i)};
    KF_TRY(std::string text, read_file(kKernels / base.file));
    KF_TRY_VOID(write_file_atomic(one.kernel, fmt::format("{}// copy {} of {}\n", text, i, stamp)));
    KF_TRY(Task task, load_task(base.task));
    KF_TRY(BoundTask bound, bind_task(task, "small"));
    fs::create_directory(one.include);
    KF_TRY_VOID(write_file_atomic(one.include / "task.h", make_task_header(bound)));
    work.push_back(one);
  }
  return work;
}

// Runs one command per piece of work with two workers; seconds for all, or the first failure.
template <class MakeCommand>
Result<double> time_all(const std::vector<Work>& work, MakeCommand make) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::string failure;
  auto start = Clock::now();
  std::vector<std::thread> workers;
  for (int w = 0; w < kWorkers; ++w)
    workers.emplace_back([&] {
      for (std::size_t i; (i = next++) < work.size();) {
        auto finished = run_command(make(work[i]));
        std::lock_guard lock(mutex);
        if (!finished)
          failure = finished.error().text();
        else if (!finished->ok())
          failure = finished->out + finished->err;
      }
    });
  for (std::thread& worker : workers) worker.join();
  if (!failure.empty()) return fail("{}", failure);
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Command evaluation_of(const Work& work) {
  Command command;
  command.argv = {kProgram.string(), "eval",  work.task, "--kernel", work.kernel.string(),
                  "--shapes",        "small", "--check", "--json"};
  return command;
}

Command bare_compilation_of(const Work& work) {
  Command command;
  command.argv = {"g++",
                  "-std=c++20",
                  "-O3",
                  "-march=native",
                  "-fopenmp",
                  "-shared",
                  "-fPIC",
                  "-I",
                  work.include.string(),
                  work.kernel.string(),
                  "-o",
                  work.kernel.string() + ".so"};
  return command;
}

// Seconds for one small kernel through torch.utils.cpp_extension.load_inline, or nothing where torch is
// absent.
std::optional<double> time_load_inline(const fs::path& folder) {
  Command probe;
  probe.argv = {"/usr/bin/python3", "-c", "import torch.utils.cpp_extension"};
  auto present = run_command(probe);
  if (!present || !present->ok()) return std::nullopt;
  Command command;
  command.timeout = std::chrono::minutes(5);
  command.argv = {"/usr/bin/python3", "-c",
                  "import sys, time, torch\n"
                  "from torch.utils.cpp_extension import load_inline\n"
                  "source = 'torch::Tensor relu(torch::Tensor x) { return torch::clamp_min(x, 0); }'\n"
                  "start = time.monotonic()\n"
                  "load_inline('kforge_bench', source, functions='relu', build_directory=sys.argv[1])\n"
                  "print(time.monotonic() - start)\n",
                  folder.string()};
  auto finished = run_command(command);
  if (!finished || !finished->ok()) return std::nullopt;
  return std::strtod(finished->out.c_str(), nullptr);
}

Result<int> run() {
  use_bench_home();
  KF_TRY(TempDir folder, TempDir::create(0755));
  KF_TRY(auto warming, make_work(folder.path()));
  warming.resize(10);
  KF_TRY([[maybe_unused]] double first,
         time_all(warming, evaluation_of));  // precompiled header, oracle values
  KF_TRY(auto work, make_work(folder.path()));
  KF_TRY(double bare_before, time_all(work, bare_compilation_of));
  KF_TRY(double ours, time_all(work, evaluation_of));
  KF_TRY(double bare_after, time_all(work, bare_compilation_of));
  double bare = (bare_before + bare_after) / 2;
  print_fact("bare g++, 50 kernels, two at a time", bare, "s");
  print_fact("kforge eval --check, the same 50 kernels, two at a time", ours, "s");
  int missed = !print_figure("eval --check against bare g++", ours / bare, "x", 1.5);
  if (auto inline_seconds = time_load_inline(folder.path())) {
    print_fact("torch load_inline, one kernel", *inline_seconds, "s");
    missed += !print_figure("eval --check against load_inline, one kernel each",
                            ours / kKernelCount / *inline_seconds, "x", 0.02);
  } else {
    fmt::print("torch load_inline: skipped, /usr/bin/python3 has no torch with a compiler here\n");
  }
  return missed;
}

}  // namespace
}  // namespace kforge::bench

int main() {
  auto missed = kforge::bench::run();
  if (missed) return *missed == 0 ? 0 : 1;
  fmt::print(stderr, "bench_throughput: {}\n", missed.error().text());
  return 2;
}
