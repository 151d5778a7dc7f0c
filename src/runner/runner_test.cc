// The runner with honest candidates, and with ones that cannot be served.
#include "runner/runner_under_test.h"

#include <csignal>

namespace kforge {
namespace {

const char* const kAdd = R"(
extern "C" void kernel(const float* x, const float* w, float* y) {
  #pragma omp parallel for
  for (int i = 0; i < 16; ++i) y[i] = x[i] + w[i];
})";

const char* const kTrio = R"(
#include <cstdio>
#include <cstdlib>
extern "C" void* prepare(const float* w) { float* s = (float*)malloc(64); for (int i = 0; i < 16; ++i) s[i] = 2 * w[i]; return s; }
extern "C" void kernel_prepared(void* state, const float* x, float* y) { for (int i = 0; i < 16; ++i) y[i] = x[i] + ((float*)state)[i]; }
extern "C" void release(void* state) { free(state); puts("released"); }
extern "C" void kernel(const float*, const float*, float*) { abort(); }
)";

class Runner : public testing::TestWithParam<SandboxTier> {};
INSTANTIATE_TEST_SUITE_P(Tiers, Runner,
                         testing::Values(SandboxTier::kBubblewrap, SandboxTier::kLandlock,
                                         SandboxTier::kNone),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_P(Runner, ServesAKernelOnEverySlot) {
  static CompiledCandidate candidate(kAdd);
  RunnerUnderTest runner(candidate, GetParam());
  Reply loaded = runner.start();
  ASSERT_EQ(loaded.head.type, KFORGE_DONE) << loaded.payload;
  EXPECT_EQ(loaded.head.value, 0u);
  EXPECT_EQ(runner.prepare().head.type, KFORGE_DONE);
  for (std::uint32_t slot : {0, 1})
    runner.tensor(KFORGE_ARENA_INPUTS, slot)[3] = 10.0f + static_cast<float>(slot);
  runner.tensor(KFORGE_ARENA_PARAMS, 0)[3] = 0.5f;
  Reply done = runner.call({1, 0});
  ASSERT_EQ(done.head.type, KFORGE_DONE) << done.payload;
  EXPECT_GT(done.head.nanoseconds, 0u);
  EXPECT_EQ(runner.tensor(KFORGE_ARENA_OUTPUTS, 0)[3], 10.5f);
  EXPECT_EQ(runner.tensor(KFORGE_ARENA_OUTPUTS, 1)[3], 11.5f);
  SandboxExit exit = runner.finish();
  EXPECT_EQ(exit.exit_code, 0);
  EXPECT_EQ(exit.signal, 0);
  EXPECT_FALSE(exit.left_processes);
}

TEST_P(Runner, PrefersTheTrioAndReleasesItsState) {
  static CompiledCandidate candidate(kTrio);
  RunnerUnderTest runner(candidate, GetParam());
  Reply loaded = runner.start();
  ASSERT_EQ(loaded.head.type, KFORGE_DONE) << loaded.payload;
  EXPECT_EQ(loaded.head.value, KFORGE_HAS_PREPARE);
  EXPECT_EQ(runner.call().head.type, KFORGE_ERROR) << "not prepared yet";
  runner.tensor(KFORGE_ARENA_PARAMS, 0)[0] = 4;
  ASSERT_EQ(runner.prepare().head.type, KFORGE_DONE);
  ASSERT_EQ(runner.call().head.type, KFORGE_DONE);
  EXPECT_EQ(runner.tensor(KFORGE_ARENA_OUTPUTS, 0)[0], 8);
  runner.tensor(KFORGE_ARENA_PARAMS, 0)[0] = 5;
  ASSERT_EQ(runner.prepare().head.type, KFORGE_DONE);  // releases the first state
  ASSERT_EQ(runner.call().head.type, KFORGE_DONE);
  EXPECT_EQ(runner.tensor(KFORGE_ARENA_OUTPUTS, 0)[0], 10);
  EXPECT_EQ(runner.finish().out, "released\nreleased\n");
}

TEST_P(Runner, WrongMessagesAreAnsweredNotObeyed) {
  static CompiledCandidate candidate(kAdd);
  RunnerUnderTest runner(candidate, GetParam());
  EXPECT_EQ(runner.receive().head.type, KFORGE_READY);
  EXPECT_EQ(runner.call().head.type, KFORGE_ERROR) << "nothing is loaded";
  EXPECT_EQ(runner.prepare().head.type, KFORGE_ERROR);
  runner.send(77);
  EXPECT_EQ(runner.receive().payload, "unknown message");
  ::send(runner.socket(), "short", 5, 0);
  EXPECT_EQ(runner.receive().payload, "malformed message");
  KforgeMessage lying{KFORGE_CALL, 400, 0, 0};
  ::send(runner.socket(), &lying, sizeof lying, 0);
  EXPECT_EQ(runner.receive().payload, "malformed message: wrong payload size");
  runner.send(KFORGE_SETUP);
  EXPECT_EQ(runner.receive().head.type, KFORGE_ERROR) << "no memory files";
  ASSERT_EQ(runner.set_up().head.type, KFORGE_DONE);
  ASSERT_EQ(runner.load().head.type, KFORGE_DONE);
  EXPECT_EQ(runner.load().head.type, KFORGE_ERROR) << "twice";
  EXPECT_EQ(runner.call({5}).payload, "there is no such slot");
  EXPECT_EQ(runner.call({}).payload, "wrong number of slots");
  EXPECT_EQ(runner.call({0}).head.type, KFORGE_DONE) << "and still serves";
}

TEST_P(Runner, EndsWhenTheParentIsGone) {
  static CompiledCandidate candidate(kAdd);
  RunnerUnderTest runner(candidate, GetParam());
  ASSERT_EQ(runner.start().head.type, KFORGE_DONE);
  ::shutdown(runner.socket(), SHUT_RDWR);
  EXPECT_EQ(runner.process().wait()->exit_code, 0);
}

// Libraries and language features an honest kernel uses must work behind the filters.
TEST_P(Runner, HonestProgramsFeelNoFilter) {
  static CompiledCandidate candidate(R"(
    #include <chrono>
    #include <cmath>
    #include <cstdio>
    #include <cstdlib>
    #include <memory>
    #include <stdexcept>
    #include <string>
    #include <thread>
    #include <vector>
    #include <omp.h>
    #include <sys/mman.h>
    extern "C" void kernel(const float* x, const float*, float* y) {
      std::vector<std::vector<float>> blocks;
      for (int i = 0; i < 40; ++i) blocks.emplace_back(1 << 18, x[0]);                 // large and many: mmap, mremap
      float* huge = (float*)aligned_alloc(1 << 21, 1 << 23);
      madvise(huge, 1 << 23, MADV_HUGEPAGE);
      huge = (float*)realloc(huge, 1 << 24);
      float sum = 0;
      #pragma omp parallel for reduction(+ : sum) num_threads(4)
      for (int i = 0; i < 1000; ++i) sum += std::exp(std::sin((float)i)) * 0 + 1;
      #pragma omp parallel sections num_threads(3)
      {
        #pragma omp section
        huge[0] = 1;
        #pragma omp section
        huge[1] = 2;
      }
      std::thread([&] { sum += 1; }).join();
      try { throw std::runtime_error(std::to_string(sum)); } catch (const std::exception& e) { sum = std::stof(e.what()); }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      printf("printed %d\n", omp_get_max_threads());
      fprintf(stderr, "%u\n", std::thread::hardware_concurrency() > 0);
      if (FILE* settings = fopen("/etc/settings", "r")) fclose(settings);
      free(huge);
      y[0] = sum;
    })");
  RunnerUnderTest runner(candidate, GetParam());
  ASSERT_EQ(runner.start().head.type, KFORGE_DONE);
  Reply reply = runner.call();
  ASSERT_EQ(reply.head.type, KFORGE_DONE) << syscall_name(reply.fault().syscall);
  EXPECT_EQ(runner.tensor(KFORGE_ARENA_OUTPUTS, 0)[0], 1001);
  SandboxExit exit = runner.finish();
  EXPECT_EQ(exit.out, "printed 2\n");
  EXPECT_EQ(exit.err, "1\n");
}

TEST_P(Runner, MoreArgumentsThanRegisters) {
  static CompiledCandidate candidate(R"(
    extern "C" void kernel(const int* a, const int* b, const int* c, const int* d, const int* e, const int* f,
                           const int* g, const int* h, int* out) { out[0] = *a + 10 * *f + 100 * *g + 1000 * *h; })");
  RunnerUnderTest runner(candidate, GetParam());
  EXPECT_EQ(runner.receive().head.type, KFORGE_READY);
  auto inputs = make_memfd("inputs", 8 * 4096), outputs = make_memfd("outputs", 4096);
  auto in = Mapping::map(inputs->get(), 8 * 4096, true), out = Mapping::map(outputs->get(), 4096, true);
  struct {
    std::uint32_t arguments = 9, slots = 1;
    KforgeArgumentRow rows[9];
  } table;
  for (std::uint32_t i = 0; i < 9; ++i) {
    bool output = i == 8;
    table.rows[i] = {output ? 2u : 1u, 0, output ? 0 : i * 4096ull, 4096, 4096, 4096 - 64, 4};
    if (!output) *reinterpret_cast<int*>(in->data() + i * 4096 + 4096 - 64) = static_cast<int>(i + 1);
  }
  runner.send(KFORGE_SETUP, &table, sizeof table, {inputs->get(), inputs->get(), outputs->get()});
  ASSERT_EQ(runner.receive().head.type, KFORGE_DONE);
  ASSERT_EQ(runner.load().head.type, KFORGE_DONE);
  ASSERT_EQ(runner.call().head.type, KFORGE_DONE);
  EXPECT_EQ(*reinterpret_cast<int*>(out->data() + 4096 - 64), 1 + 60 + 700 + 8000);
  table.rows[3].offset = 8 * 4096;  // outside its arena
  runner.send(KFORGE_SETUP, &table, sizeof table, {inputs->get(), inputs->get(), outputs->get()});
  EXPECT_EQ(runner.receive().payload, "a tensor lies outside its arena");
}

// Weights of a whole model: hundreds of pointers, to kernel and prepare alike; and counts that are lies.
TEST(RunnerArguments, HundredsAndLies) {
  for (std::uint32_t count : {66u, 300u, KFORGE_MAX_ARGUMENTS + 0u}) {
    std::string parameters, sum = "0";
    for (std::uint32_t i = 0; i + 1 < count; ++i) {
      parameters += fmt::format("const int* a{}, ", i);
      if (i % 7 == 0 || i + 2 == count) sum += fmt::format(" + *a{}", i);
    }
    int expected = 0;
    for (std::uint32_t i = 0; i + 1 < count; ++i)
      expected += i % 7 == 0 || i + 2 == count ? static_cast<int>(i) : 0;
    // All but the output are params: prepare gets them, kernel_prepared the state and the output.
    CompiledCandidate trio(
        fmt::format("static int total;\n"
                    "extern \"C\" void* prepare({}) {{ total = {}; return &total; }}\n"
                    "extern \"C\" void kernel_prepared(void* s, int* out) {{ *out = *(int*)s; }}\n"
                    "extern \"C\" void release(void*) {{}}\n",
                    parameters.substr(0, parameters.size() - 2), sum));
    CompiledCandidate plain(
        fmt::format("extern \"C\" void kernel({}int* out) {{ *out = {}; }}", parameters, sum));
    for (bool prepares : {true, false}) {
      RunnerUnderTest runner(prepares ? trio : plain, SandboxTier::kNone);
      ASSERT_EQ(runner.receive().head.type, KFORGE_READY);
      std::size_t pages = (count - 1) * 4096ull;
      auto inputs = make_memfd("inputs", pages), outputs = make_memfd("outputs", 4096);
      auto in = Mapping::map(inputs->get(), pages, true), out = Mapping::map(outputs->get(), 4096, true);
      std::vector<std::byte> table(8 + count * sizeof(KforgeArgumentRow));
      auto* counts = reinterpret_cast<std::uint32_t*>(table.data());
      auto* rows = reinterpret_cast<KforgeArgumentRow*>(table.data() + 8);
      counts[0] = count, counts[1] = 1;
      for (std::uint32_t i = 0; i < count; ++i) {
        bool output = i + 1 == count;
        rows[i] = {output ? 2u : 0u, !output && prepares, output ? 0 : i * 4096ull, 0, 4096, 4096 - 64, 4};
        if (!output) *reinterpret_cast<int*>(in->data() + i * 4096ull + 4096 - 64) = static_cast<int>(i);
      }
      auto set_up = [&] {
        runner.send(KFORGE_SETUP, table.data(), table.size(), {inputs->get(), inputs->get(), outputs->get()});
        return runner.receive();
      };
      ASSERT_EQ(set_up().head.type, KFORGE_DONE) << count;
      ASSERT_EQ(runner.load().head.type, KFORGE_DONE);
      if (prepares) {
        ASSERT_EQ(runner.prepare().head.type, KFORGE_DONE);
      }
      ASSERT_EQ(runner.call().head.type, KFORGE_DONE);
      EXPECT_EQ(*reinterpret_cast<int*>(out->data() + 4096 - 64), expected) << count;
      for (std::uint32_t lie : {count + 1, KFORGE_MAX_ARGUMENTS + 1u, 0xffffffffu, 0x05555556u}) {
        counts[0] = lie;
        EXPECT_EQ(set_up().head.type, KFORGE_ERROR) << lie;
      }
    }
  }
}

}  // namespace
}  // namespace kforge
