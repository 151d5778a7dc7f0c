// kforge-onednn: the baseline `onednn` as a program (runner/protocol.h). Computes a task's graph operator
// by operator on oneDNN primitives and plain loops.
//   kforge-onednn TASK --set NAME [--case N]     the N-th case of a shape set
//   kforge-onednn TASK --dims a=1,b=2            dimensions by name
//   ... --print                                  shows the plan instead of serving
//   ... --times [--evict BYTES]                  times its operators instead of serving
#include <cpuid.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "baseline/onednn/step_times.h"
#include "baseline/protocol_server.h"
#include "graph/join.h"
#include "task/task.h"

namespace kforge::onednn {
namespace {

struct Options {
  std::string task, set = "bench";
  std::optional<std::string> dims;  // may be empty: a graph without symbols
  std::size_t shape_case = 0;
  bool print = false, times = false;
  std::size_t evict_bytes = 0;
};

Result<Options> read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (word == "--set")
      options.set = value();
    else if (word == "--case")
      options.shape_case = std::strtoul(value().c_str(), nullptr, 10);
    else if (word == "--dims")
      options.dims = value();
    else if (word == "--print")
      options.print = true;
    else if (word == "--times")
      options.times = true;
    else if (word == "--evict")
      options.evict_bytes = std::strtoul(value().c_str(), nullptr, 10);
    else if (options.task.empty() && !word.starts_with("-"))
      options.task = word;
    else
      return fail("kforge-onednn does not know the argument {}", word);
  }
  if (options.task.empty())
    return fail("usage: kforge-onednn TASK (--set NAME [--case N] | --dims a=1,b=2) [--print | --times]");
  return options;
}

Result<std::map<std::string, std::int64_t>> read_dims(std::string_view text) {
  std::map<std::string, std::int64_t> dims;
  while (!text.empty()) {
    std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) return fail("{} is not of the form name=number", item);
    std::int64_t value = std::strtoll(std::string(item.substr(equals + 1)).c_str(), nullptr, 10);
    if (value <= 0) return fail("{} gives no positive number", item);
    dims[std::string(item.substr(0, equals))] = value;
  }
  return dims;
}

Result<BoundTask> bind(Task& task, const Options& options) {
  if (!options.dims) return bind_task(task, options.set, options.shape_case);
  KF_TRY(auto dims, read_dims(*options.dims));
  task.shapes["dims"] = {ShapeCase{std::move(dims), 1}};
  return bind_task(task, "dims", 0);
}

class OneDnn : public ServedProgram {
 public:
  explicit OneDnn(Options options) : options_(std::move(options)) {}

  Result<void> make_plan() {
    KF_TRY(task_, load_task(options_.task));
    KF_TRY(bound_, bind(task_, options_));
    bound_.graph = join_operators(bound_.graph);
    KF_TRY(plan_, Plan::make(bound_));
    return {};
  }

  Result<void> load(const ArgumentTable& arguments) override {
    KF_TRY_VOID(make_plan());
    if (arguments.size() != bound_.arguments.size())
      return fail("the task has {} tensors and the parent gave {}", bound_.arguments.size(),
                  arguments.size());
    for (std::size_t a = 0; a < arguments.size(); ++a)
      if (arguments.bytes(a) != bound_.arguments[a].bytes())
        return fail("tensor {} has {} bytes and the parent gave {}", bound_.arguments[a].name,
                    bound_.arguments[a].bytes(), arguments.bytes(a));
    arguments_ = &arguments;
    return {};
  }

  Result<void> prepare() override {
    return guarded([&] { plan_->prepare(addresses(0)); });
  }

  Result<void> call(std::uint32_t slot) override {
    return guarded([&] { plan_->call(addresses(slot)); });
  }

  std::string print() const { return plan_->print(); }
  Result<std::string> times() { return print_step_times(*plan_, bound_, options_.evict_bytes); }

 private:
  const std::vector<std::byte*>& addresses(std::uint32_t slot) {
    addresses_.resize(arguments_->size());
    for (std::size_t a = 0; a < addresses_.size(); ++a) addresses_[a] = arguments_->data(a, slot);
    return addresses_;
  }

  template <class F>
  Result<void> guarded(F f) {
    if (!plan_) return fail("nothing is loaded");
    try {
      f();
    } catch (const std::exception& why) {
      return fail("oneDNN failed: {}", why.what());
    }
    return {};
  }

  Options options_;
  Task task_;
  BoundTask bound_;
  std::unique_ptr<Plan> plan_;
  const ArgumentTable* arguments_ = nullptr;
  std::vector<std::byte*> addresses_;
};

// Some hypervisors show AMX but hide the leaf that describes its tiles; oneDNN 2.6 then configures none and
// dies.
void avoid_broken_amx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  bool shown = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & (1u << 24));
  if (!shown) return;
  bool described = __get_cpuid_count(0x1d, 1, &a, &b, &c, &d) && a != 0;
  if (!described) ::setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16", 0);
}

int run(int argc, char** argv) {
  auto options = read_options(argc, argv);
  if (!options) {
    fmt::print(stderr, "{}\n", options.error().text());
    return 2;
  }
  avoid_broken_amx();
  bool print = options->print, times = options->times;
  OneDnn program(std::move(*options));
  if (!print && !times) return serve_program(program);
  if (auto made = program.make_plan(); !made) {
    fmt::print(stderr, "{}\n", made.error().text());
    return 1;
  }
  Result<std::string> said = times ? program.times() : program.print();
  if (said) return fmt::print("{}", *said), 0;
  fmt::print(stderr, "{}\n", said.error().text());
  return 1;
}

}  // namespace
}  // namespace kforge::onednn

int main(int argc, char** argv) { return kforge::onednn::run(argc, argv); }
