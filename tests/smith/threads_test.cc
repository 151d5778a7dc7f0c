// Every emitter's kernels with other teams than they were made for: one thread, more threads than there is
// scratch memory for, another number in prepare() than in the call, nested regions, OMP_DYNAMIC. A kernel
// must compute the same bits and stay inside its memory; a program of its own, built with the address
// sanitizer, calls them.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <memory>

#include "base/files.h"
#include "base/subprocess.h"
#include "compiled_kernels.h"
#include "smith_problem.h"
#include "task/inputs.h"

namespace kforge {
namespace {

constexpr int kMadeFor = 2;  // threads

// What is tried, and a text that only the emitter in question writes: a task that changes its emitter is
// noticed.
struct Wanted {
  const char* task;
  std::map<std::string, std::int64_t> dims;  // large enough for a team; empty: the shape set `odd`
  const char* move;  // from the first design, by the start of its name; empty: the first design itself
  const char* shows;
  const char* needs = "";  // a feature of the machine; left out without it
};
const Wanted kWanted[] = {
    {"core/gelu", {{"B", 64}, {"D", 1024}}, "", "team_size()"},
    {"core/layer_norm", {{"B", 67}, {"D", 1031}}, "", "team_size()"},
    {"core/max_pool2d", {{"B", 4}, {"C", 8}, {"H", 192}, {"W", 192}}, "", "thread_heap"},
    {"core/sum_reduction", {{"B", 3}, {"M", 190}, {"N", 333}}, "", "team_size()"},
    {"core/l2_norm", {{"B", 33}, {"D", 4099}}, "", "team_size()"},
    {"core/mse_loss", {{"B", 128}, {"D", 1024}}, "", "team_size()"},
    {"core/cumsum", {{"B", 65}, {"D", 2048}}, "", "team_size()"},
    {"core/transpose", {{"M", 300}, {"N", 403}}, "", "team_size()"},
    {"core/matmul", {{"M", 130}, {"K", 77}, {"N", 150}}, "", "_kernel::work("},
    {"core/matmul", {{"M", 130}, {"K", 77}, {"N", 150}}, "arithmetic bf16x6", "configure_tiles", "amx"},
    {"core/matmul_large_k", {{"M", 24}, {"K", 9000}, {"N", 40}}, "split k", "kSplits = 2"},
    {"fusion/gemm_scale_leakyrelu", {}, "", "b prepare"},
    {"core/conv2d_5x9", {{"B", 1}}, "", "kStaged = true;"},
    {"core/conv2d_5x9", {{"B", 4}}, "", "kStagePrivate = true;"},
    {"core/conv2d_grouped", {}, "", "_kernel::work("},
    {"core/conv2d_3x3", {{"B", 3}, {"C", 9}, {"F", 20}, {"H", 22}, {"W", 35}}, "winograd", "Winograd"},
    {"core/conv2d_3x3", {{"B", 8}, {"C", 9}, {"F", 20}, {"H", 22}, {"W", 35}}, "winograd", "Winograd"},
    {"core/conv2d_3x3", {{"B", 3}, {"C", 17}, {"F", 70}, {"H", 9}, {"W", 9}}, "pixels as rows", "PixelRows<"},
    {"core/conv2d_3x3", {{"B", 8}, {"C", 40}, {"F", 35}, {"H", 9}, {"W", 9}}, "pixels as rows", "PixelRows<"},
    {"core/conv2d_depthwise_3x3", {}, "", "depthwise, planes"},
    {"core/conv_transpose2d_grouped", {}, "", "transposed by phases"},
    {"core/scaled_dot_product_attention", {}, "", "_attention::work("},
    {"llm/top_k_sampling", {{"B", 64}, {"V", 3001}}, "", "team_size()"},
    {"llm/layernorm_gelu_mlp", {}, "", "_kernel::work("},
};

// One kernel and the tensors it is called with, as bytes.
struct Case {
  std::string name;
  std::unique_ptr<Task> whole;
  BoundTask task;
  KernelSource kernel;
};

Result<Case> make_case(const Wanted& wanted, const Machine& machine) {
  KF_TRY(Task loaded, load_task(wanted.task));
  auto task = std::make_unique<Task>(std::move(loaded));
  if (!wanted.dims.empty()) {
    ShapeCase shape = task->shapes.at("odd").front();
    for (const auto& [dim, size] : wanted.dims) shape.dims[dim] = size;
    task->shapes["odd"] = {shape};
  }
  KF_TRY(BoundTask bound, bind_task(*task, "odd"));
  smith::Problem problem = smith_problem(bound, machine, kMadeFor);
  KF_TRY(smith::Design design, smith::first_design(problem));
  std::string name = wanted.task;
  if (*wanted.move && design.source.find(wanted.shows) == std::string::npos) {
    std::string names;
    for (const smith::Move& move : smith::moves(problem, design)) {
      names += move.name + ", ";
      if (!move.name.starts_with(wanted.move)) continue;
      KF_TRY(design, smith::design_from(problem, move.schedule));
      name += " " + move.name;
      names.clear();
      break;
    }
    if (!names.empty()) return fail("{} has no move {}: {}", wanted.task, wanted.move, names);
  }
  if (design.source.find(wanted.shows) == std::string::npos)
    return fail("the kernel for {} does not contain '{}'", name, wanted.shows);
  return Case{name, std::move(task), std::move(bound), {std::move(problem), design.source}};
}

// The program that calls them. Tensors come from a file: for each argument the size, whether it is written,
// the bytes.
constexpr std::string_view kMain = R"(
#include <cstdio>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

struct Argument { long bytes = 0; bool written = false; std::vector<char> data; };

static std::vector<char> outputs_of(void (*call)(void**), const std::vector<Argument>& arguments) {
  std::vector<void*> pointers;
  for (const Argument& a : arguments) {
    char* p = (char*)aligned_alloc(64, (a.bytes + 63) / 64 * 64);
    memcpy(p, a.data.data(), a.bytes);
    pointers.push_back(p);
  }
  call(pointers.data());
  std::vector<char> out;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].written) out.insert(out.end(), (char*)pointers[i], (char*)pointers[i] + arguments[i].bytes);
    free(pointers[i]);
  }
  return out;
}

int main(int, char** argv) {
#ifdef __AMX_TILE__
  // Tile registers are asked for, as KForge's runner does: ARCH_REQ_XCOMP_PERM for the tiles' data.
  if (syscall(SYS_arch_prctl, 0x1023, 18) != 0) return 4;
#endif
  FILE* file = fopen(argv[1], "rb");
  bool good = true;
  for (const Entry& entry : entries) {
    std::vector<Argument> arguments(entry.arguments);
    for (Argument& a : arguments) {
      int written = 0;
      if (fread(&a.bytes, sizeof a.bytes, 1, file) != 1 || fread(&written, sizeof written, 1, file) != 1) return 3;
      a.written = written;
      a.data.resize(a.bytes);
      if (a.bytes && fread(a.data.data(), 1, a.bytes, file) != (size_t)a.bytes) return 3;
    }
    std::vector<char> expected;
    const auto same = [&](int prepare, int threads, const char* how) {
      fprintf(stderr, "%s: %d threads, %d in prepare, %s\n", entry.name, threads, prepare, how);
      call_threads = threads;
      omp_set_num_threads(prepare);
      std::vector<char> got = outputs_of(entry.call, arguments);
      if (expected.empty()) expected = got;
      if (got == expected) return;
      printf("%s: %d threads (%d in prepare, %s) give other bits than 2\n", entry.name, threads, prepare, how);
      good = false;
    };
    same(2, 2, "as it was made");
    for (const int threads : {1, 2, 3, 9, 33}) {
      same(threads, threads, "alike");
      same(1, threads, "one in prepare");
      same(33, threads, "many in prepare");
    }
    omp_set_dynamic(1);
    same(33, 33, "dynamic");
    omp_set_dynamic(0);
    for (const int levels : {1, 2}) {
      omp_set_max_active_levels(levels);
#pragma omp parallel num_threads(3)
#pragma omp single
      same(9, 9, levels == 1 ? "nested, alone" : "nested, with a team");
    }
    omp_set_max_active_levels(1);
  }
  return good ? 0 : 1;
}
)";

std::string program_text(const std::vector<Case>& cases) {
  std::vector<KernelSource> kernels;
  for (const Case& c : cases) kernels.push_back(c.kernel);
  std::string text = kernels_text(kernels, 0, kernels.size());
  // The call has a team of its own size, whatever prepare() had.
  const std::string call = "  kernel_prepared_", other = "  omp_set_num_threads(call_threads);\n";
  for (std::size_t at = 0; (at = text.find(call, at)) != std::string::npos; at += other.size() + call.size())
    text.insert(at, other);
  std::string entries =
      "struct Entry { const char* name; void (*call)(void**); int arguments; } entries[] = {\n";
  for (std::size_t i = 0; i < cases.size(); ++i)
    entries += fmt::format("  {{\"{}\", call_{}, {}}},\n", cases[i].name, i, cases[i].task.arguments.size());
  return "static int call_threads = 2;\n" + text + entries + "};\n" + std::string(kMain);
}

void write_tensors(const std::vector<Case>& cases, const fs::path& path) {
  std::ofstream file(path, std::ios::binary);
  for (const Case& c : cases)
    for (std::size_t i = 0; i < c.task.arguments.size(); ++i) {
      const BoundArgument& argument = c.task.arguments[i];
      std::vector<std::byte> data(argument.bytes());
      if (argument.role != Role::kOutput) fill_argument(argument, InputKind::kOwn, 7, i, data);
      const long bytes = static_cast<long>(data.size());
      const int written = argument.role == Role::kOutput || argument.role == Role::kInout;
      file.write(reinterpret_cast<const char*>(&bytes), sizeof bytes);
      file.write(reinterpret_cast<const char*>(&written), sizeof written);
      file.write(reinterpret_cast<const char*>(data.data()), bytes);
    }
}

TEST(SmithThreads, AnyTeamComputesTheSameInsideItsMemory) {
  auto machine = describe_machine();
  ASSERT_TRUE(machine);
  std::vector<Case> cases;
  for (const Wanted& wanted : kWanted) {
    if (*wanted.needs && !machine->features.contains(wanted.needs)) continue;
    auto made = make_case(wanted, *machine);
    ASSERT_TRUE(made) << made.error().text();
    cases.push_back(std::move(*made));
  }
  auto folder = TempDir::create();
  ASSERT_TRUE(folder);
  const fs::path source = folder->path() / "teams.cc", program = folder->path() / "teams",
                 tensors = folder->path() / "tensors";
  ASSERT_TRUE(write_file_atomic(source, program_text(cases)));
  write_tensors(cases, tensors);
  if (const char* keep = std::getenv("KFORGE_KEEP_CASES")) (void)write_file_atomic(keep, program_text(cases));

  Command compile{{"g++", "-std=c++20", "-O1", "-g1", "-fopenmp", "-fno-math-errno", "-fno-trapping-math",
                   "-fsanitize=address", "-w", source.string(), "-o", program.string()}};
  const std::vector<std::string> flags = instruction_sets(*machine)[0];
  compile.argv.insert(compile.argv.end(), flags.begin(), flags.end());
  if (machine->features.contains("amx"))
    compile.argv.insert(compile.argv.end(), {"-mamx-tile", "-mamx-bf16"});
  compile.timeout = std::chrono::minutes(8);
  auto compiled = run_command(compile);
  ASSERT_TRUE(compiled) << compiled.error().text();
  ASSERT_TRUE(compiled->ok()) << compiled->err.substr(0, 4000);

  Command run{{"env", "ASAN_OPTIONS=detect_leaks=0", program.string(), tensors.string()}};
  run.timeout = std::chrono::minutes(8);
  auto finished = run_command(run);
  ASSERT_TRUE(finished) << finished.error().text();
  const std::string& err = finished->err;
  EXPECT_TRUE(finished->ok()) << finished->out << err.substr(err.size() > 6000 ? err.size() - 6000 : 0);
}

}  // namespace
}  // namespace kforge
