// Does the model that ranks schedules know which one is faster? For each task the smith's first design and
// its neighbours are built and timed on one thread, and the order of their times is compared with the order
// that was predicted: Spearman's rank correlation by family, 1 where the orders agree and 0 where the
// prediction says nothing. Time is the processor's time of the thread, the least of many calls: what others
// do on the machine counts as little as it can.
//   bench_prediction [TASK]...        bar: 0.5 in every family
#include <dlfcn.h>
#include <fmt/core.h>
#include <omp.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include "base/files.h"
#include "base/subprocess.h"
#include "generate/smith_generator.h"
#include "graph/join.h"
#include "machine/machine.h"
#include "smith_table.h"
#include "task/inputs.h"

namespace kforge::bench {
namespace {

constexpr double kSecondsPerDesign = 0.25, kBar = 0.5;
constexpr std::size_t kMostMoves = 14;
constexpr std::size_t kMostArguments = 8;

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Calls a C function with pointers.
template <class R, std::size_t... i>
R call_with(void* function, const std::vector<void*>& p, std::index_sequence<i...>) {
  return reinterpret_cast<R (*)(decltype((void)i, (void*)nullptr)...)>(function)(p[i]...);
}
template <class R, std::size_t n = 0>
R call(void* function, const std::vector<void*>& pointers) {
  if (pointers.size() == n) return call_with<R>(function, pointers, std::make_index_sequence<n>());
  if constexpr (n < kMostArguments) return call<R, n + 1>(function, pointers);
  KF_CHECK(false, "more than {} arguments", kMostArguments);
  return R();
}

struct Tensors {
  std::vector<std::vector<std::byte>> memory;
  std::vector<void*> all, params, others;
};
Tensors tensors_of(const BoundTask& task) {
  Tensors t;
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    const BoundArgument& argument = task.arguments[i];
    std::vector<std::byte>& memory = t.memory.emplace_back(argument.bytes() + 128);
    void* at = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
    if (argument.role != Role::kOutput)
      fill_argument(argument, InputKind::kOwn, 1, i, {static_cast<std::byte*>(at), argument.bytes()});
    t.all.push_back(at);
    (argument.role == Role::kParam ? t.params : t.others).push_back(at);
  }
  return t;
}

// A design, built and loaded.
struct Loaded {
  double expected = 1;  // time, in proportion to the first design's
  std::string name;
  void* library = nullptr;
  void* function = nullptr;
  std::vector<void*> arguments;
  double least = 1e9;  // seconds of a call
};

Result<Loaded> load_design(const std::string& source, const BoundTask& task, const Tensors& tensors) {
  KF_TRY(TempDir folder, TempDir::create());
  const fs::path kernel = folder.path() / "kernel.cc", library = folder.path() / "kernel.so";
  KF_TRY_VOID(write_file_atomic(kernel, source));
  KF_TRY_VOID(write_file_atomic(folder.path() / "task.h", make_task_header(task)));
  Command compile{{"g++", "-std=c++20", "-O3", "-march=native", "-mprefer-vector-width=512", "-fopenmp",
                   "-fno-math-errno", "-fno-trapping-math", "-w", "-fPIC", "-shared", kernel.string(), "-o",
                   library.string()}};
  compile.timeout = std::chrono::minutes(2);
  KF_TRY(const Finished built, run_command(compile));
  if (!built.ok()) return fail("{}", built.err.substr(0, 500));
  Loaded loaded;
  loaded.library = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!loaded.library) return fail("{}", dlerror());
  loaded.function = dlsym(loaded.library, "kernel_prepared");
  if (loaded.function) {
    loaded.arguments = tensors.others;
    loaded.arguments.insert(loaded.arguments.begin(),
                            call<void*>(dlsym(loaded.library, "prepare"), tensors.params));
  } else {
    loaded.function = dlsym(loaded.library, "kernel");
    loaded.arguments = tensors.all;
  }
  return loaded;
}

// In turns, so that what the machine does meanwhile meets all of them.
void time_in_turns(std::vector<Loaded>& designs) {
  double spent = 0;
  for (int round = 0; round < 5 || spent < kSecondsPerDesign * static_cast<double>(designs.size()); ++round)
    for (Loaded& design : designs) {
      const double begin = thread_seconds();
      call<void>(design.function, design.arguments);
      const double took = thread_seconds() - begin;
      design.least = std::min(design.least, took);
      spent += took;
    }
}

std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t j = i; j < end; ++j) ranks[order[j]] = static_cast<double>(i + end - 1) / 2;
    i = end;
  }
  return ranks;
}
double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks_of(a), y = ranks_of(b);
  const double mean = static_cast<double>(x.size() - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

// Of one task; nothing where fewer than four of its designs have a prediction.
Result<std::optional<double>> correlation_of(const std::string& name, const Machine& machine) {
  KF_TRY(const Task task, load_task(name));
  KF_TRY(const BoundTask bound, bind_task(task, "bench"));
  const smith::Problem problem = problem_of(bound, machine, 1, "fp32");
  KF_TRY(const smith::Design first, smith::first_design(problem));
  const Tensors tensors = tensors_of(bound);
  std::vector<Loaded> designs;
  KF_TRY(Loaded own, load_design(first.source, bound, tensors));
  designs.push_back(std::move(own));
  for (const smith::Move& move : smith::moves(problem, first)) {
    if (move.expected <= 0 || designs.size() > kMostMoves) continue;
    KF_TRY(const smith::Design design, smith::design_from(problem, move.schedule));
    KF_TRY(Loaded loaded, load_design(design.source, bound, tensors));
    loaded.expected = move.expected;
    loaded.name = move.name;
    designs.push_back(std::move(loaded));
  }
  time_in_turns(designs);
  std::vector<double> expected, measured;
  for (const Loaded& design : designs) {
    expected.push_back(design.expected);
    measured.push_back(design.least / designs[0].least);
    if (!design.name.empty())
      fmt::print("  {:<28} expected {:.2f}, took {:.2f}\n", design.name, expected.back(), measured.back());
  }
  for (Loaded& design : designs) {
    if (void* release = dlsym(design.library, "release")) call<void>(release, {design.arguments[0]});
    dlclose(design.library);
  }
  if (expected.size() < 4) return std::optional<double>();
  return std::optional(spearman(expected, measured));
}

int run(const std::vector<std::string>& tasks) {
  auto machine = describe_machine();
  if (!machine) return fmt::print(stderr, "{}\n", machine.error().text()), 2;
  omp_set_num_threads(1);
  std::map<std::string, std::vector<double>> families;
  for (const std::string& task : tasks) {
    fmt::print("{}\n", task);
    auto found = correlation_of(task, *machine);
    if (!found) return fmt::print(stderr, "{}: {}\n", task, found.error().text()), 2;
    if (!*found) continue;
    fmt::print("  rank correlation {:.2f}\n", **found);
    families[family_of(task)].push_back(**found);
  }
  bool met = true;
  for (const auto& [family, values] : families) {
    const double mean =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    met &= mean >= kBar;
    fmt::print("{:<20} {} tasks, rank correlation {:.2f} (bar {:.1f}: {})\n", family, values.size(), mean,
               kBar, mean >= kBar ? "met" : "missed");
  }
  return met ? 0 : 1;
}

}  // namespace
}  // namespace kforge::bench

int main(int argc, char** argv) {
  std::vector<std::string> tasks(argv + 1, argv + argc);
  if (tasks.empty())
    tasks = {"core/matmul",
             "core/matmul_transposed_b",
             "core/matmul_tall_skinny",
             "fusion/gemm_add_relu",
             "core/conv2d_5x9",
             "core/conv2d_pointwise",
             "fusion/conv2d_relu_biasadd",
             "core/conv_transpose2d_3x7"};
  return kforge::bench::run(tasks);
}
