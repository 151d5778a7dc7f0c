// find_baselines: which programs there are for a task, how each is started, and why the others are absent.
#include "baseline/baseline.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/nearest.h"
#include "baseline/inductor.h"
#include "baseline/onnx_file.h"
#include "baseline/python_probe.h"
#include "graph/join.h"
#include "task/module_numbers.h"

namespace kforge {
namespace {

using nlohmann::json;

const std::vector<std::string> kNames = {"onednn", "onnxruntime",   "openvino",
                                         "torch",  "torch.compile", "torch.graph"};

std::string dims_text(const BoundTask& task) {
  std::string text;
  for (const auto& [name, value] : task.shape_case.dims)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, value);
  return text;
}

// Baselines are trusted and need no sandbox; they get a small environment of their own all the same, so that
// results do not depend on the user's shell.
ProgramSpec make_spec(const std::string& name, std::vector<std::string> argv, const fs::path& work,
                      const Machine& machine, int threads) {
  ProgramSpec spec;
  spec.name = name;
  spec.argv = std::move(argv);
  spec.writable = work;
  spec.tier = SandboxTier::kNone;
  spec.threads = threads > 0 ? threads : machine.threads();
  spec.cpus = machine.cpus;
  // Libraries map far more than they use, and compiling ones take their time; each call has its own limit.
  spec.limits.wall = std::chrono::hours(1);
  spec.limits.cpu_seconds = 24 * 3600;
  spec.limits.memory_bytes = std::uint64_t{1} << 42;
  spec.limits.processes = 1024;
  spec.env["PATH"] = "/usr/local/bin:/usr/bin:/bin";
  spec.env["LANG"] = "C.UTF-8";
  spec.env["HOME"] = work.string();
  spec.env["TMPDIR"] = work.string();
  for (const char* kept : {"KFORGE_HOME", "KFORGE_DATA", "XDG_DATA_HOME"})
    if (const char* value = std::getenv(kept)) spec.env[kept] = value;
  return spec;
}

void add_onednn(const BoundTask& task, const Machine& machine, const BaselineOptions& options,
                const fs::path& work, Baselines& out) {
  auto program = helper_program("kforge-onednn");
  if (!program) {
    out.absent.push_back(
        {"onednn", program.error().message, "build it: apt-get install libdnnl-dev, then cmake --build"});
    return;
  }
  ProgramSpec spec = make_spec("onednn", {program->string(), task.task->path, "--dims", dims_text(task)},
                               work, machine, options.threads);
  LibraryRelease release = library_release("onednn", "2.6", current_month());
  std::string what =
      to_string("oneDNN", release) + ", operator by operator, loops where it has none, float32 arithmetic";
  out.present.push_back({"onednn", what, std::move(spec), std::move(release)});
}

// OpenBLAS mistakes some processors for much older ones.
std::string openblas_core(const Machine& machine) {
  if (machine.features.contains("avx512f")) return "SKYLAKEX";
  if (machine.features.contains("avx2"))
    return machine.cpu_model.find("AMD") != std::string::npos ? "ZEN" : "HASWELL";
  return "";
}

std::optional<fs::path> find_jemalloc() {
  for (const char* path : {"/usr/lib/x86_64-linux-gnu/libjemalloc.so.2", "/usr/lib/libjemalloc.so.2"})
    if (fs::exists(path)) return path;
  return std::nullopt;
}

// Eager frameworks allocate every result; without an allocator that keeps pages each large one costs page
// faults.
std::string tune_environment(const Machine& machine, ProgramSpec& spec) {
  std::string said;
  if (auto jemalloc = find_jemalloc()) {
    spec.env["LD_PRELOAD"] = jemalloc->string();
    spec.env["MALLOC_CONF"] =
        "background_thread:false,metadata_thp:auto,thp:always,dirty_decay_ms:-1,muzzy_decay_ms:-1,oversize_"
        "threshold:0";
    said += ", jemalloc without decay";
  } else {
    said += ", default allocator (libjemalloc2 is not installed)";
  }
  if (std::string core = openblas_core(machine); !core.empty()) spec.env["OPENBLAS_CORETYPE"] = core;
  if (machine.features.contains("avx512f")) spec.env["ATEN_CPU_CAPABILITY"] = "avx512";
  return said;
}

struct PythonBaseline {
  const char* name;
  const char* package;
  const char* remedy;
};
constexpr PythonBaseline kPython[] = {
    {"onnxruntime", "onnxruntime", "pip install onnxruntime numpy, or scripts/setup.sh platforms"},
    {"openvino", "openvino", "pip install openvino numpy, or scripts/setup.sh platforms"},
    {"torch", "torch", "apt-get install python3-torch, or pip install torch"},
    {"torch.compile", "torch", "pip install torch (2.0 or newer)"},
    {"torch.graph", "torch", "apt-get install python3-torch, or pip install torch"},
};

// An imported task has the user's own module: what the user runs today.
bool runs_module(const BoundTask& task, const PythonBaseline& baseline) {
  std::string_view name = baseline.name;
  return task.task->module && (name == "torch" || name == "torch.compile");
}

bool has_compile(const std::string& version) { return std::atoi(version.c_str()) >= 2; }

// A torch that was built for numpy 1 cannot see the arrays of numpy 2: it imports, and fails at the first
// tensor.
bool sees_arrays(const std::string& torch, const std::string& numpy) {
  constexpr const char* kFirstForBoth = "2.3";
  return std::atoi(numpy.c_str()) < 2 || !is_newer(kFirstForBoth, torch);
}

// The Python that runs a baseline; else why none does.
struct Choice {
  const PythonFacts* facts = nullptr;
  std::string reason;
};

std::string why_not(const PythonFacts& facts, const PythonBaseline& baseline) {
  auto version = facts.versions.find(baseline.package);
  if (!facts.failure.empty()) return facts.failure;
  if (version == facts.versions.end()) return fmt::format("{} is not installed", baseline.package);
  if (!facts.versions.contains("numpy")) return "numpy is not installed";
  if (const std::string& numpy = facts.versions.at("numpy");
      std::string_view(baseline.package) == "torch" && !sees_arrays(version->second, numpy))
    return fmt::format("torch {} does not work with numpy {}", version->second, numpy);
  if (std::string_view(baseline.name) == "torch.compile" && !has_compile(version->second))
    return fmt::format("torch {} has no compile", version->second);
  return "";
}

// The one the user named where it has the package, else the newest there is: a rival of years ago proves
// little.
Choice choose_python(const std::vector<PythonFacts>& asked, const PythonBaseline& baseline,
                     const fs::path& named) {
  Choice choice;
  for (const PythonFacts& facts : asked) {
    if (std::string why = why_not(facts, baseline); !why.empty()) {
      choice.reason += fmt::format("{}{}: {}", choice.reason.empty() ? "" : "; ", facts.python.string(), why);
      continue;
    }
    if (facts.python == named) return {&facts, ""};
    if (!choice.facts ||
        is_newer(facts.versions.at(baseline.package), choice.facts->versions.at(baseline.package)))
      choice.facts = &facts;
  }
  if (asked.empty()) choice.reason = "there is no Python";
  return choice;
}

// The arithmetic OpenVINO is asked for: float32 unless the policy allows less.
std::string openvino_precision(const std::string& policy) { return policy == "bf16" ? "bf16" : "f32"; }

// What torch is allowed to compute with, as its user would set it.
std::string torch_arithmetic(const std::string& policy) {
  if (policy == "bf16") return ", autocast to bfloat16 where that is faster";
  return policy == "high" ? ", float32 matmul precision high" : "";
}

// The file with the graph that a backend reads.
Result<void> write_graph(const BoundTask& task, const std::string& backend, const fs::path& path) {
  if (backend == "onnxruntime") return write_onnx_file(task, path);
  if (backend == "openvino") return write_onnx_file_with_inputs(task, path);
  return write_file_atomic(path, to_json(join_operators(task.graph)));
}

Result<fs::path> write_job(const BoundTask& task, const std::string& backend, const std::string& precision,
                           bool module, const fs::path& work) {
  json arguments = json::array();
  for (const BoundArgument& argument : task.arguments)
    arguments.push_back({{"name", argument.name},
                         {"role", name_of(argument.role)},
                         {"dtype", name_of(argument.dtype)},
                         {"shape", argument.shape},
                         {"output", argument.output}});
  json job = {{"backend", backend},
              {"arguments", arguments},
              {"precision", openvino_precision(precision)},
              {"policy", precision}};
  if (module) {
    const ModuleNumbers numbers = module_numbers(task);
    job["module"] = {
        {"source", task.task->module->text}, {"numbers", numbers.numbers}, {"small", numbers.small}};
  } else {
    fs::path graph =
        work / fmt::format("baseline_{}_graph{}", backend, backend.starts_with("torch") ? ".json" : ".onnx");
    KF_TRY_VOID(write_graph(task, backend, graph));
    job["graph"] = graph.string();
  }
  fs::path path = work / ("baseline_" + backend + ".json");
  KF_TRY_VOID(write_file_atomic(path, job.dump(1)));
  return path;
}

// A task's module is somebody's program as a candidate is: it may compute, and nothing else.
void confine(SandboxTier tier, const PythonFacts& python, const fs::path& children, const fs::path& job,
             ProgramSpec& spec) {
  if (tier == SandboxTier::kNone) return;
  spec.tier = tier;
  spec.profile = SandboxProfile::kDriver;
  spec.readable = python.folders_outside_usr();
  spec.readable.push_back(children);
  spec.readable.push_back(job);
  spec.writable.clear();
  spec.scratch = true;
  for (const char* name :
       {"KFORGE_HOME", "KFORGE_DATA", "XDG_DATA_HOME", "HOME", "TMPDIR", "TORCHINDUCTOR_CACHE_DIR"})
    spec.env.erase(name);
}

// What a confined module's torch.compile compiles stays for the next process of this run, and goes with it.
Result<void> keep_compiled(const PythonFacts& python, const fs::path& work, ProgramSpec& spec) {
  KF_TRY(fs::path home, kforge_home());
  const int threads[] = {1, spec.threads};
  KF_TRY(spec.writable, make_inductor_folder(work, threads, inductor_seed(python, home / "cache")));
  spec.scratch = false;
  spec.env["KFORGE_INDUCTOR"] = spec.writable.string();
  return {};
}

// A virtual environment's python is a link whose place tells it where its packages are: it must not be
// resolved.
Result<void> add_python(const BoundTask& task, const Machine& machine, const BaselineOptions& options,
                        const fs::path& work, const PythonBaseline& baseline, const PythonFacts& facts,
                        Baselines& out) {
  KF_TRY(fs::path root, data_root());
  fs::path child = root / "python" / "kforge_child.py";
  const bool module = runs_module(task, baseline);
  auto job = write_job(task, baseline.name, options.precision, module, work);
  if (!job) {
    out.absent.push_back({baseline.name, job.error().message, ""});
    return {};
  }
  ProgramSpec spec = make_spec(baseline.name, {facts.python.string(), "-B", child.string(), job->string()},
                               work, machine, options.threads);
  // OpenVINO plans its memory when it compiles, and its library dies beside another allocator.
  bool plans_memory = std::string_view(baseline.name) == "openvino";
  std::string tuned = plans_memory ? "" : tune_environment(machine, spec);
  LibraryRelease release =
      library_release(baseline.package, facts.versions.at(baseline.package), current_month());
  std::string what = to_string(baseline.package, release) + tuned;
  if (std::string_view(baseline.name) == "openvino")
    what += fmt::format(", latency hint, {}", openvino_precision(options.precision));
  if (std::string_view(baseline.name) == "torch") what = (module ? "the module, eager " : "eager ") + what;
  if (std::string_view(baseline.package) == "torch") what += torch_arithmetic(options.precision);
  if (std::string_view(baseline.name) == "torch.graph") what = "the graph's operators, eager " + what;
  if (std::string_view(baseline.name) == "torch.compile") {
    what = (module ? "the module by inductor of " : "inductor of ") + what;
    KF_TRY(fs::path home, kforge_home());
    spec.env["TORCHINDUCTOR_CACHE_DIR"] = (home / "torchinductor").string();
    spec.env["TORCHINDUCTOR_COMPILE_THREADS"] = "1";               // or worker processes stay behind
    spec.env["TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS"] = "0";  // longer to make than the few files save
  }
  if (module) confine(options.tier, facts, root / "python", *job, spec);
  if (module && spec.tier != SandboxTier::kNone && std::string_view(baseline.name) == "torch.compile")
    KF_TRY_VOID(keep_compiled(facts, work, spec));
  out.present.push_back({baseline.name, what, std::move(spec), std::move(release)});
  return {};
}

}  // namespace

Result<void> check_baseline_name(const std::string& name) {
  if (std::ranges::find(kNames, name) != kNames.end()) return {};
  return fail_with_remedy(
      "known ones: onednn, onnxruntime, openvino, torch, torch.compile, torch.graph; your own kernel: "
      "NAME=FILE",
      fmt::format("there is no baseline '{}'{}", name, did_you_mean(name, kNames)));
}

Result<Baselines> find_baselines(const BoundTask& task, const Machine& machine,
                                 const BaselineOptions& options, const fs::path& work) {
  for (const std::string& name : options.names) KF_TRY_VOID(check_baseline_name(name));
  auto wanted = [&](std::string_view name) {
    // The graph in torch's operators is a rival of its own only where `torch` is something else.
    if (options.names.empty()) return name != "torch.graph";
    return std::ranges::find(options.names, name) != options.names.end();
  };
  Baselines out;
  if (wanted("onednn")) add_onednn(task, machine, options, work, out);
  if (!std::ranges::any_of(kPython, [&](const PythonBaseline& one) { return wanted(one.name); })) return out;
  KF_TRY(fs::path home, kforge_home());
  std::vector<PythonFacts> asked;
  for (const fs::path& python : python_candidates(options.python))
    asked.push_back(probe_python(python, home / "cache"));
  for (const PythonBaseline& baseline : kPython) {
    if (!wanted(baseline.name)) continue;
    Choice choice = choose_python(asked, baseline, options.python);
    if (!choice.facts) {
      out.absent.push_back({baseline.name, choice.reason, baseline.remedy});
      continue;
    }
    KF_TRY_VOID(add_python(task, machine, options, work, baseline, *choice.facts, out));
  }
  return out;
}

}  // namespace kforge
