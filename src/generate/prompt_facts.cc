#include "generate/prompt_facts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <vector>

#include "base/files.h"
#include "generate/prompt.h"
#include "generate/quote.h"

namespace kforge {
namespace {

std::string bytes_text(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.3g} GB", bytes / 1e9);
  if (bytes >= 1e6) return fmt::format("{:.3g} MB", bytes / 1e6);
  if (bytes >= 1e3) return fmt::format("{:.3g} KB", bytes / 1e3);
  return fmt::format("{:.0f} B", bytes);
}

std::string flops_text(double flops) {
  if (flops >= 1e9) return fmt::format("{:.3g} GFLOP", flops / 1e9);
  return fmt::format("{:.3g} MFLOP", flops / 1e6);
}

std::string cache_text(std::size_t bytes) {
  return bytes >= (1u << 20) ? fmt::format("{:g} MiB", static_cast<double>(bytes) / (1 << 20))
                             : fmt::format("{} KiB", bytes >> 10);
}

std::string language_of(std::string_view name) {
  std::string extension = std::filesystem::path(name).extension().string();
  if (extension == ".txt" || extension.empty()) return "";
  if (extension == ".cc" || extension == ".cxx" || extension == ".h" || extension == ".hpp") return "cpp";
  return extension.substr(1);
}

}  // namespace

std::string time_text(double ns) {
  if (ns >= 1e9) return fmt::format("{:.3g} s", ns / 1e9);
  if (ns >= 9.995e6) return fmt::format("{:.3g} ms", ns / 1e6);
  if (ns >= 9.995e5) return fmt::format("{:.0f} us", ns / 1e3);
  return fmt::format("{:.3g} us", ns / 1e3);
}

// Whole models have hundreds of tensors and few kinds of them: those of one kind share a row there.
std::string tensor_table(const BoundTask& task) {
  constexpr std::size_t kOneRowEach = 64;
  std::vector<std::pair<std::string, std::string>> rows;  // names, what they are
  std::map<std::string, std::size_t> row_of;
  for (const BoundArgument& argument : task.arguments) {
    std::string kind =
        fmt::format("{} | {} | {} | {}", name_of(argument.role), name_of(argument.dtype),
                    to_string(argument.shape), bytes_text(static_cast<double>(argument.bytes())));
    auto [known, is_new] = row_of.try_emplace(kind, rows.size());
    if (is_new || task.arguments.size() <= kOneRowEach)
      rows.emplace_back(single_line(argument.c_name, 60), std::move(kind));
    else
      rows[known->second].first += ", " + single_line(argument.c_name, 60);
  }
  std::string text = "| tensor | role | type | shape | bytes |\n|---|---|---|---|---|\n";
  for (const auto& [names, kind] : rows) text += fmt::format("| {} | {} |\n", names, kind);
  return text;
}

std::string work_text(const BoundTask& task) {
  const GraphCost& cost = task.cost;
  std::string text =
      fmt::format("{}, at least {} to move ({:.3g} flops per byte); operator by operator {} would move.",
                  flops_text(cost.flops), bytes_text(cost.compulsory_bytes), cost.intensity(),
                  bytes_text(cost.unfused_bytes));
  if (cost.nodes.size() < 2 || cost.nodes.size() > 40) return text;
  text += "\n\n| node | operator | flops | bytes when unfused |\n|---|---|---|---|\n";
  for (const NodeCost& node : cost.nodes)
    text += fmt::format("| {} | {} | {} | {} |\n", single_line(node.node, 60), node.op,
                        flops_text(node.flops), bytes_text(node.bytes));
  return text;
}

std::string policy_text(const AgentSetting& context) {
  bool all_integers = std::ranges::none_of(context.task->arguments, [](const BoundArgument& argument) {
    return argument.role != Role::kInput && argument.role != Role::kParam && is_float(argument.dtype);
  });
  if (all_integers) return "The outputs are integers: every one must be exact.";
  std::string text = fmt::format(
      "Precision policy `{}`{}: with b the fp64 value, an element may be off by {:g} times the largest of "
      "|b - mean|, the deviation of its row and the deviation of the tensor, or by 4 times the worst error "
      "of a "
      "plain fp32 program on the same inputs, whichever is more. float16 and bfloat16 outputs are rounded to "
      "nearest; "
      "results of Softmax and Exp are right to 1e-3 each, however small. Integers must be exact.",
      context.precision, context.precision_words.empty() ? "" : " (" + context.precision_words + ")",
      context.tolerance);
  if (context.precision == "fp32")
    text +=
        " A straightforward fp32 program passes; TF32, bf16 or fp16 products do not. Sums in another order "
        "are fine.";
  if (context.deterministic) text += " Repeated calls must agree bit for bit.";
  return text;
}

namespace {

std::string chip_text(const Chip& chip) {
  return fmt::format(
      "- the model's chip: {}: {:.0f} units at {:g} GHz, each with {:g} instructions of warps per clock, "
      "{:.0f} threads, "
      "{:.0f} blocks and {:.0f} registers at once, {:g} KB of shared memory ({:g} KB for a block); {:.0f} "
      "GB/s from memory, "
      "{:.0f} GB/s from a second cache of {:g} MB; a launch takes {:g} us\n"
      "- counted: sectors of 32 bytes that the lanes of a warp touch together, passes over 32 banks of 4 "
      "bytes, lanes "
      "that sit out, barriers, instructions\n",
      single_line(chip.name, 60), chip.units, chip.clock_ghz, chip.issue_per_clock, chip.threads_per_unit,
      chip.blocks_per_unit, chip.registers_per_unit, chip.shared_kb_per_unit, chip.shared_kb_per_block,
      chip.memory_gb_s, chip.l2_gb_s, chip.l2_mb, chip.launch_us);
}

// Nothing of the machine that emulates is worth an agent's attention.
std::string emulated_text(const Platform& platform) {
  std::string text = fmt::format(
      "- {}: {}, emulated: programs are verified, and no time is taken\n",
      platform.emulates_device() ? "device" : "processor",
      single_line(platform.emulates_device() ? name_of(*platform.run.driver) : platform.run.machine, 40));
  if (!platform.run.features.empty())
    text += fmt::format("- it executes: {}\n", fmt::join(platform.run.features, " "));
  if (platform.model)
    text += fmt::format(
        "- programs are ranked by the model `{}` (version {}): its figure for one call, lower is better\n",
        platform.model->command.name, platform.model->version);
  if (platform.model && platform.model->chip) text += chip_text(*platform.model->chip);
  return text;
}

std::string device_text(const DeviceFacts& device) {
  std::string text = fmt::format("- device: {}\n", single_line(device.text(), 200));
  text += fmt::format("- {} compute units, at most {} threads and {} KB of shared memory in a block\n",
                      device.compute_units, device.most_threads, device.shared_bytes >> 10);
  if (device.this_processor())
    text +=
        "- it is this processor behind a driver: a block runs on one core, its threads as vector lanes and "
        "loops\n";
  return text;
}

}  // namespace

std::string machine_text(const AgentSetting& context) {
  std::string text;
  const Platform* platform = context.platform;
  const bool on_device = platform && platform->kind == PlatformKind::kDevice;
  const bool foreign =
      platform && (platform->emulated() || (context.device && !context.device->this_processor()));
  if (platform && platform->emulated()) {
    text += emulated_text(*platform);
  } else if (on_device && context.device) {
    text += device_text(*context.device);
  }
  if (const Machine* machine = context.machine; machine && !foreign) {
    text += fmt::format("- processor: {}{}\n", single_line(machine->cpu_model, 100),
                        machine->virtualised ? " (virtual machine)" : "");
    text += fmt::format("- it executes (each tried): {}\n", fmt::join(machine->features, " "));
    for (const CacheLevel& cache : machine->caches)
      text += fmt::format("- L{} cache: {}{}\n", cache.level, cache_text(cache.bytes),
                          cache.shared_by > 1 ? fmt::format(", shared by {} cpus", cache.shared_by) : "");
  }
  if (!on_device) text += fmt::format("- threads: {} (`omp_get_max_threads()`)\n", context.threads);
  if (const Peaks* peaks = context.peaks; peaks && !(on_device && foreign)) {
    text += fmt::format(
        "- measured peak with {} thread{}: {:.0f} GFLOP/s fp32 (fused multiply-add, widest vectors)",
        peaks->threads, peaks->threads == 1 ? "" : "s", peaks->fp32_gflops);
    if (peaks->amx_bf16_gflops > 0)
      text += fmt::format(", {:.0f} GFLOP/s bf16 with AMX tiles", peaks->amx_bf16_gflops);
    text += '\n';
    for (const Bandwidth& b : peaks->bandwidths)
      text +=
          fmt::format("- measured bandwidth from {}: {:.0f} GB/s read, {:.0f} GB/s copied (read + written)\n",
                      b.level, b.read_gb_s, b.copy_gb_s);
  }
  if (!context.compiler_line.empty() && !(on_device && platform->emulated()))
    text += fmt::format("- compiled with{}: `{}`\n",
                        context.flag_set.empty() ? "" : fmt::format(" flag set {}", context.flag_set),
                        single_line(fmt::format("{}", fmt::join(context.compiler_line, " ")), 1'500));
  return text;
}

bool roofline_is_believable(const AgentSetting& context) {
  return context.roofline_ns > 0 &&
         (context.baselines.empty() || context.baselines.front().ns > context.roofline_ns);
}

std::string target_text(const AgentSetting& context) {
  std::string text;
  for (std::size_t i = 0; i < context.baselines.size(); ++i) {
    const NamedTime& baseline = context.baselines[i];
    const std::string interval =
        baseline.interval
            ? fmt::format(" [{}, {}]", time_text(baseline.interval->lo), time_text(baseline.interval->hi))
            : "";
    text += fmt::format("- baseline {}: {}{}{}\n", baseline.name, time_text(baseline.ns), interval,
                        i == 0 ? " (the fastest: speedups are against this)" : "");
  }
  if (roofline_is_believable(context))
    text += fmt::format(
        "- roofline: {} (bound by {}): about the least time the work can take with the peaks measured "
        "above\n",
        time_text(context.roofline_ns), context.roofline_bound);
  if (!text.empty())
    text += fmt::format(
        "- times are taken with {} caches, all threads, as medians of many calls on fresh inputs\n",
        context.cold ? "cold (flushed)" : "warm");
  return text;
}

std::string operator_text(const AgentSetting& context) {
  if (context.operator_times.empty()) return "";
  std::string text =
      fmt::format("Operator by operator, {} takes:\n\n| operator | time |\n|---|---|\n",
                  context.operator_times_of.empty() ? "the baseline" : context.operator_times_of);
  std::size_t shown = std::min<std::size_t>(context.operator_times.size(), 40);
  for (std::size_t i = 0; i < shown; ++i)
    text += fmt::format("| {} | {} |\n", single_line(context.operator_times[i].name, 80),
                        time_text(context.operator_times[i].ns));
  return text;
}

std::string example_text(const Platform& platform) {
  constexpr std::size_t kFileBytes = 24 << 10, kAllBytes = 48 << 10;
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(platform.folder / "example", error), end; !error && it != end;
       it.increment(error))
    if (it->is_regular_file(error)) files.push_back(it->path());
  // The task before the kernel that solves it.
  std::ranges::sort(files, {}, [&](const fs::path& path) {
    return std::pair(path.stem() == "kernel", path.filename().string());
  });
  std::string text;
  for (const fs::path& file : files) {
    auto content = read_file(file, kFileBytes);
    if (!content || text.size() + content->size() > kAllBytes) continue;
    std::string name = file.filename().string();
    text += fmt::format("`{}`:\n{}\n", name, fenced(*content, language_of(name)));
  }
  return text;
}

bool example_is(const Platform& platform, const Task& task) {
  auto graph = read_file(platform.folder / "example" / "graph.onnx.txt", 1 << 20);
  if (!graph) return false;
  // Without the graph's name and the layout of its text.
  auto body = [](std::string_view text) {
    std::string kept;
    for (char c : text.substr(std::min(text.find('('), text.size())))
      if (!std::isspace(static_cast<unsigned char>(c))) kept += c;
    return kept;
  };
  return body(*graph) == body(task.source_text);
}

std::string program_text(const Candidate& program, std::size_t limit_bytes) {
  std::string text;
  for (const SourceFile& file : program.files)
    text += fmt::format("`{}`:\n{}", file.name,
                        fenced(shorten(file.content, limit_bytes), language_of(file.name)));
  return text;
}

}  // namespace kforge
