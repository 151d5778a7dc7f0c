#include "build/symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <fstream>
#include <random>

#include "base/files.h"
#include "base/subprocess.h"
#include "platform/platform.h"

namespace kforge {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class SymbolsTest : public testing::Test {
 protected:
  TempDir dir_ = TempDir::create().value();
  // With the system's compiler, outside the sandbox: this is about the reader.
  fs::path compile(const std::string& source, std::vector<std::string> flags = {"-O2"}) {
    fs::path path = dir_.path() / "k.cc", library = dir_.path() / "k.so";
    std::ofstream(path) << source;
    std::vector<std::string> argv = {"g++",         "-std=c++20", "-fPIC",
                                     "-shared",     "-fopenmp",   "-fno-gnu-unique",
                                     path.string(), "-o",         library.string()};
    argv.insert(argv.end(), flags.begin(), flags.end());
    auto finished = run_command({.argv = argv});
    EXPECT_TRUE(finished && finished->ok()) << (finished ? finished->err : finished.error().text());
    return library;
  }
  DynamicSymbols symbols_of(const fs::path& library) {
    auto step = read_dynamic_symbols(library);
    EXPECT_TRUE(step && step->has_value());
    return step && step->has_value() ? **step : DynamicSymbols{};
  }
  std::string verdict(const std::string& source, std::vector<std::string> flags = {"-O2"}) {
    static const Platform cpu = load_platform("cpu").value();
    auto step = read_dynamic_symbols(compile(source, std::move(flags)));
    if (!step) return "error: " + step.error().message;
    if (!step->has_value()) return reason_text(step->error());
    auto rejected = check_symbols(**step, cpu.allowed_imports, cpu.allowed_needed);
    if (rejected) {
      EXPECT_EQ(rejected->gate, Gate::kSymbols);
    }
    return rejected ? rejected->reason : "fine";
  }
};

TEST_F(SymbolsTest, ReadsWhatAKernelImportsAndExports) {
  DynamicSymbols symbols = symbols_of(compile(R"(
    #include <cmath>
    #include <omp.h>
    extern "C" void kernel(const float* x, float* y) {
      #pragma omp parallel for
      for (int i = 0; i < 1000; ++i) y[i] = std::exp(x[i]);
    }
    int table[100];
    struct Early { Early() { table[3] = 1; } } early;
  )"));
  EXPECT_THAT(symbols.imports, Contains("GOMP_parallel"));
  EXPECT_THAT(symbols.imports, Contains("expf"));
  EXPECT_THAT(symbols.exports, Contains("kernel"));
  EXPECT_THAT(symbols.exports, Contains("table"));
  EXPECT_THAT(symbols.needed, Contains("libgomp.so.1"));
  EXPECT_GE(symbols.initialisers, 1u);
  EXPECT_EQ(symbols.resolvers, 0u);
}

TEST_F(SymbolsTest, HonestProgramsPass) {
  EXPECT_EQ(verdict("extern \"C\" void kernel() {}"), "fine");
  // Containers, threads, exceptions and their weak template instances, also without optimisation.
  const char* cxx = R"(
    #include <vector>
    #include <string>
    #include <map>
    #include <memory>
    #include <thread>
    #include <mutex>
    #include <new>
    #include <algorithm>
    #include <numeric>
    #include <condition_variable>
    #include <cstdio>
    #include <cassert>
    static std::vector<float> scratch;
    thread_local std::string name;
    alignas(64) char place[64];
    extern "C" void kernel(const float* x, float* y) {
      std::map<int, std::vector<double>> rows;
      rows[3].resize(100, x[0]);
      scratch.push_back(x[1]);
      std::mutex mutex;
      std::thread thread([&] { std::lock_guard lock(mutex); name += "x"; y[0] = 1; });
      thread.join();
      auto shared = std::make_shared<int>(new (place) int(3) ? 1 : 0);
      std::sort(scratch.begin(), scratch.end());
      if (rows.size() > 5) throw std::bad_alloc();
      if (*shared > 5) std::fprintf(stderr, "odd\n");
      assert(x != y);
    })";
  EXPECT_EQ(verdict(cxx), "fine");
  EXPECT_EQ(verdict(cxx, {"-O0"}), "fine");
  EXPECT_EQ(verdict("#include <cmath>\nextern \"C\" void kernel(float* y) { for (int i = 0; i < 999; ++i) "
                    "y[i] = std::sin(y[i]) + std::exp(y[i]); }",
                    {"-O3", "-ffast-math", "-march=x86-64-v3"}),
            "fine");
  // Variables called like functions of libm, and half precision.
  EXPECT_EQ(
      verdict("float gamma[4], y1, j0; int index; extern \"C\" void kernel() { gamma[0] = y1 + j0 + index; }",
              {"-O2", "-fno-builtin"}),
      "fine");
  EXPECT_EQ(
      verdict("extern \"C\" void kernel(_Float16* x) { x[0] = x[1] * x[2]; x[3] = (_Float16)(float)x[4]; }"),
      "fine");
}

TEST_F(SymbolsTest, NamesOfTheSystemMayNotBeDefined) {
  EXPECT_THAT(verdict("extern \"C\" int clock_gettime(int, void*) { return 0; }"),
              HasSubstr("defines clock_gettime"));
  EXPECT_THAT(verdict("extern \"C\" double omp_get_wtime() { return 0; }"),
              HasSubstr("defines omp_get_wtime"));
  EXPECT_THAT(verdict("extern \"C\" void* memcpy(void* d, const void*, unsigned long) { return d; }",
                      {"-O2", "-fno-builtin"}),
              HasSubstr("defines memcpy"));
  EXPECT_THAT(verdict("extern \"C\" void* _dl_allocate_tls(void* p) { return p; }"),
              HasSubstr("defines _dl_allocate_tls"));
  EXPECT_THAT(verdict("#include <cstdlib>\nvoid* operator new(unsigned long n) { return std::malloc(n); }"),
              HasSubstr("defines _Znwm"));
  EXPECT_THAT(
      verdict("extern \"C\" __attribute__((weak)) int write(int, const void*, unsigned long) { return 0; }"),
      HasSubstr("defines write"));
  EXPECT_THAT(verdict("#include <chrono>\nstd::chrono::steady_clock::time_point "
                      "std::chrono::steady_clock::now() noexcept { return {}; }"),
              HasSubstr("steady_clock3now"));
  EXPECT_THAT(verdict("extern \"C\" { char** environ; }"), HasSubstr("defines environ"));
}

TEST_F(SymbolsTest, WhatNoKernelNeedsMayNotBeImported) {
  EXPECT_THAT(verdict("#include <time.h>\nextern \"C\" void kernel() { timespec t; "
                      "clock_gettime(CLOCK_MONOTONIC, &t); }"),
              testing::AllOf(HasSubstr("clock_gettime"), HasSubstr("reads a clock")));
  EXPECT_THAT(verdict("#include <dlfcn.h>\nextern \"C\" void kernel() { dlopen(\"x\", 1); }"),
              HasSubstr("loads or searches libraries"));
  EXPECT_THAT(verdict("#include <fstream>\nextern \"C\" void kernel() { std::ofstream(\"/tmp/x\") << 1; }"),
              HasSubstr("not among the names"));
  EXPECT_THAT(verdict("#include <cstdlib>\nextern \"C\" void kernel() { exit(0); }"),
              HasSubstr("ends the process"));
  EXPECT_THAT(verdict("#include <sys/mman.h>\nextern \"C\" void kernel(void* p) { mprotect(p, 1, 7); }"),
              HasSubstr("changes page protection"));
}

TEST_F(SymbolsTest, LibrariesAndLoaderTricks) {
  EXPECT_THAT(verdict("extern \"C\" void kernel() {}", {"-Wl,--no-as-needed", "-l:libcrypto.so.3"}),
              HasSubstr("needs the library libcrypto.so.3"));
  EXPECT_THAT(verdict("extern \"C\" void kernel() {}", {"-Wl,-rpath,/tmp"}), HasSubstr("search path"));
  EXPECT_THAT(verdict("extern \"C\" void kernel() {}", {"-Wl,-z,execstack"}), HasSubstr("executable stack"));
  EXPECT_THAT(verdict("extern \"C\" void kernel() {}", {"-Wl,--audit,x.so"}),
              HasSubstr("redirects the loader"));
  DynamicSymbols resolver = symbols_of(compile(R"(
    static void one() {}
    extern "C" void (*choose())() { return one; }
    extern "C" void chosen() __attribute__((ifunc("choose")));
    extern "C" void kernel() { chosen(); })"));
  EXPECT_GE(resolver.resolvers, 1u);
}

TEST_F(SymbolsTest, TheEvidenceHoldsNamesThatAreHarmless) {
  DynamicSymbols symbols;
  symbols.imports = {std::string("evil\n\x1b[31m\"\xff") + std::string(5000, 'x'), "memcpy"};
  auto rejected = check_symbols(symbols, {"memcpy"});
  ASSERT_TRUE(rejected);
  EXPECT_THAT(rejected->reason, Not(HasSubstr("\x1b")));
  EXPECT_LT(rejected->reason.size(), 400u);
  const auto& figures = std::get<Figures>(rejected->evidence).named;
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_LT(std::get<std::vector<std::string>>(figures[0].second).at(0).size(), 400u);
  EXPECT_EQ(figures[1].second, Figure(std::int64_t{1}));
}

std::string outcome_of(const std::string& bytes) {
  auto step = read_dynamic_symbols(std::as_bytes(std::span(bytes)));
  if (!step) return "error";
  return step->has_value() ? "read" : std::string(outcome_name(step->error()));
}

TEST_F(SymbolsTest, FilesThatAreNoLibraries) {
  EXPECT_EQ(outcome_of(""), "rejected");
  EXPECT_EQ(outcome_of("\x7f"
                       "ELF"),
            "rejected");
  EXPECT_EQ(outcome_of(std::string(5000, '\0')), "rejected");
  EXPECT_EQ(outcome_of(read_file("/proc/self/exe").value().substr(0, 4000)), "rejected");
  fs::create_symlink("/etc/passwd", dir_.path() / "link");
  EXPECT_FALSE(read_dynamic_symbols(dir_.path() / "link"));
  EXPECT_FALSE(read_dynamic_symbols(dir_.path() / "missing"));
  ASSERT_TRUE(write_file_atomic(dir_.path() / "empty", ""));
  EXPECT_FALSE(read_dynamic_symbols(dir_.path() / "empty")->has_value());
}

// Damaged in every way a random generator finds: read or refused, never a crash (the address sanitizer
// watches) and never slow.
TEST_F(SymbolsTest, DamagedFiles) {
  std::string good = read_file(compile("#include <vector>\nextern \"C\" void kernel(float* x) { "
                                       "std::vector<float> v(10); x[0] = v[1]; }"))
                         .value();
  ASSERT_EQ(outcome_of(good), "read");
  std::mt19937_64 random(1);
  std::clock_t start = std::clock();
  int read = 0, refused = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string bad = good;
    // Mostly in the headers and tables at the front, where damage matters.
    std::size_t range = round % 3 == 0 ? bad.size() : std::min<std::size_t>(bad.size(), 0x1000);
    for (std::uint64_t n = 1 + random() % 4; n > 0; --n) {
      std::size_t at = random() % range;
      std::uint64_t value = random() % 4 == 0 ? ~0ull : random() >> (random() % 64);
      std::memcpy(bad.data() + at, &value, std::min<std::size_t>(1u << (random() % 4), bad.size() - at));
    }
    if (random() % 8 == 0) bad.resize(random() % bad.size());
    (outcome_of(bad) == "read" ? read : refused)++;
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 10) << "of the processor's time";
  // The dynamic section is not at the front: damage there too, word by word.
  for (std::size_t at = 0; at + 8 <= good.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, good.data() + at, 8);
    if (word == 0) continue;
    for (std::uint64_t value :
         {std::uint64_t{0}, ~std::uint64_t{0}, word + 0x10000, word ^ 0x7fffffff00000000}) {
      std::string bad = good;
      std::memcpy(bad.data() + at, &value, 8);
      (void)outcome_of(bad);
    }
  }
}

TEST_F(SymbolsTest, IsQuick) {
  fs::path library = compile("extern \"C\" void kernel() {}");
  std::vector<std::string> allowed = load_platform("cpu").value().allowed_imports;
  DynamicSymbols warm = symbols_of(library);
  auto first = std::chrono::steady_clock::now();
  (void)check_symbols(warm, allowed);
  auto start = std::chrono::steady_clock::now();
  std::clock_t cpu_start = std::clock();  // whoever else computes does not count
  for (int i = 0; i < 20; ++i) (void)check_symbols(symbols_of(library), allowed);
  auto end = std::chrono::steady_clock::now();
  double cpu_seconds = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  fmt::print("first check {:.2f} ms, then {:.3f} ms\n",
             std::chrono::duration<double, std::milli>(start - first).count(),
             std::chrono::duration<double, std::milli>(end - start).count() / 20);
  EXPECT_LT(cpu_seconds, 20 * 0.02);
}

}  // namespace
}  // namespace kforge
