// The functions of emitted kernels over the whole range of float (denormals, infinities and NaN included), in
// units of the last place: those of C++ as vectors and as single elements on every instruction set of this
// machine, and those that device languages lack.
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "base/subprocess.h"
#include "compiled_kernels.h"
#include "smith/device/device_expr.h"
#include "smith/kernels/kernel_text.h"

namespace kforge {
namespace {

namespace fs = std::filesystem;

struct Function {
  const char* name;
  const char* header;  // of kernels/
  const char* call;    // of x
  double (*exact)(double);
  double limit = 4;
};
double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
double softplus(double x) { return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

const Function kFunctions[] = {
    {"exp", "math/exp.h", "exp_of(x)", std::exp},
    {"exp_low", "math/exp_low.h", "exp_low(at_most(x, 60.0f))",
     [](double x) { return x > 60 ? std::exp(60.0) : std::exp(x); }},
    {"maximum", "vectors/extrema.h", "maximum(x, set<F>(0.5f))", [](double x) { return x < 0.5 ? 0.5 : x; },
     0},
    {"minimum", "vectors/extrema.h", "minimum(set<F>(0.5f), x)", [](double x) { return x > 0.5 ? 0.5 : x; },
     0},
    {"at_least", "vectors/extrema.h", "at_least(x, -3.0f)", [](double x) { return x < -3 ? -3 : x; }, 0},
    {"expm1", "math/expm1.h", "expm1_of(x)", std::expm1},
    {"log", "math/log.h", "log_of(x)", std::log},
    {"log1p", "math/log1p.h", "log1p_of(x)", std::log1p},
    {"tanh", "math/tanh.h", "tanh_of(x)", std::tanh},
    {"sigmoid", "math/sigmoid.h", "sigmoid_of(x)", sigmoid},
    {"softplus", "math/softplus.h", "softplus_of(x)", softplus},
    {"erf", "math/erf.h", "erf_of(x)", std::erf},
    {"erfc", "math/erf.h", "erfc_of(x)", std::erfc},
    // Plus 1: in the tail the square of x has fewer digits than this asks for.
    {"normal_cdf", "math/normal_cdf.h", "normal_cdf(x) + 1.0f",
     [](double x) { return 1 + 0.5 * std::erfc(-x / std::numbers::sqrt2); }},
    {"sqrt", "math/sqrt.h", "sqrt_of(x)", std::sqrt, 0.51},
    {"rsqrt", "math/sqrt.h", "1.0f / sqrt_of(x)", [](double x) { return 1 / std::sqrt(x); },
     2},  // as norms write it
    {"magnitude", "math/bits.h", "magnitude(x)", std::fabs, 0},
    {"floor", "math/rounding.h", "floor_of(x)", std::floor, 0},
    {"ceil", "math/rounding.h", "ceil_of(x)", std::ceil, 0},
    {"round", "math/rounding.h", "round_of(x)", std::nearbyint, 0},
};

// Distance in units of the last place of the exact value, denormals counted as they are spaced.
double ulps(float got, double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e9;
  if (std::isnan(got)) return 1e9;
  const auto rounded = static_cast<float>(want);
  if (std::isinf(rounded) || std::isinf(got))
    return rounded == got || std::fabs(want) > 3.4028e38 * 0.9999 ? 0 : 1e9;
  const float next = std::nextafter(std::fabs(rounded), INFINITY);
  const double unit =
      std::isinf(next) ? 2.028e31 : static_cast<double>(next) - std::fabs(static_cast<double>(rounded));
  return std::fabs(static_cast<double>(got) - want) / unit;
}

// Every 1009th bit pattern, and all neighbours of the places where something changes.
const std::vector<float>& inputs() {
  static const std::vector<float> all = [] {
    std::vector<float> x;
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 1009)
      x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    for (const float place :
         {0.0f,        1.17549435e-38f, 1e-30f,      0.35f, 0.5f,    0.70710678f, 0.938f,
          1.0f,        1.41421356f,     2.0f,        9.19f, 10.0f,   10.1f,       17.33f,
          30.0f,       87.3365f,        88.7228394f, 89.0f, 103.97f, 104.5f,      8388608.0f,
          16777216.0f, 3.40282347e38f,  INFINITY})
      for (int near = -300; near <= 300; ++near) {
        const auto bits = std::bit_cast<std::uint32_t>(place) + static_cast<std::uint32_t>(near);
        x.push_back(std::bit_cast<float>(bits & 0x7fffffffu));
        x.push_back(std::bit_cast<float>(bits | 0x80000000u));
      }
    while (x.size() % 16 != 0) x.push_back(0.5f);
    return x;
  }();
  return all;
}

// Source with functions "void NAME(const float*, float*, long)", compiled and loaded.
void* compiled(const std::string& text, const std::vector<std::string>& flags, const std::string& name) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("smith_math_{}_{}", getpid(), name);
  fs::create_directories(folder);
  const fs::path source = folder / "math.cc", library = folder / "math.so";
  std::ofstream(source) << text;
  Command command{{"g++", "-std=c++20", "-O2", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-shared",
                   "-w", "-o", library.string(), source.string()}};
  command.argv.insert(command.argv.begin() + 1, flags.begin(), flags.end());
  const auto built = run_command(command);
  EXPECT_TRUE(built && built->ok()) << (built ? built->err : built.error().message);
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(handle, nullptr) << dlerror();
  fs::remove_all(folder);
  return handle;
}

void check(void* handle, const std::string& symbol, const Function& f, const std::vector<double>& want,
           const std::string& where, std::size_t step = 1) {
  auto run = reinterpret_cast<void (*)(const float*, float*, long)>(dlsym(handle, symbol.c_str()));
  ASSERT_NE(run, nullptr) << symbol;
  std::vector<float> x;
  for (std::size_t i = 0; i < inputs().size(); i += step) x.push_back(inputs()[i]);
  std::vector<float> y(x.size());
  run(x.data(), y.data(), static_cast<long>(x.size()));
  double worst = 0;
  float worst_at = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (const double off = ulps(y[i], want[i * step]); off > worst) worst = off, worst_at = x[i];
  EXPECT_LE(worst, f.limit) << symbol << " at " << worst_at << " " << where;
  testing::Test::RecordProperty(symbol, std::to_string(worst));
}

std::vector<double> exact_values(const Function& f) {
  std::vector<double> want;
  for (const float x : inputs()) want.push_back(f.exact(static_cast<double>(x)));
  return want;
}

TEST(SmithMath, FourUnitsOverTheWholeRange) {
  auto machine = describe_machine();
  ASSERT_TRUE(machine);
  std::set<std::string> used{"vectors/lanes.h"};
  std::string functions;
  for (const Function& f : kFunctions) {
    used.insert(f.header);
    functions += fmt::format(
        "extern \"C\" void vectors_{0}(const float* p, float* y, long n) {{\n"
        "  for (long i = 0; i + kLanes <= n; i += kLanes) {{ using F = Vec; const F x = load<F>(p + i); "
        "store(y + i, {1}); }}\n}}\n"
        "extern \"C\" void single_{0}(const float* p, float* y, long n) {{\n"
        "  for (long i = 0; i < n; ++i) {{ using F = float; const F x = p[i]; y[i] = {1}; }}\n}}\n",
        f.name, f.call);
  }
  const std::string text =
      "#include <immintrin.h>\n#include <cmath>\n#include <cstdint>\n#include <utility>\nnamespace {\n" +
      smith::kernel_text(used) + "}\n" + functions;
  std::vector<void*> handles;
  for (const auto& flags : instruction_sets(*machine))
    handles.push_back(compiled(text, flags, std::to_string(handles.size())));
  for (const Function& f : kFunctions) {
    const std::vector<double> want = exact_values(f);
    for (std::size_t i = 0; i < handles.size(); ++i) {
      ASSERT_NE(handles[i], nullptr);
      const std::string where = instruction_sets(*machine)[i][0];
      check(handles[i], std::string("vectors_") + f.name, f, want, where);
      if (i == 0) check(handles[i], std::string("single_") + f.name, f, want, where, 7);
    }
  }
}

// GLSL and MSL have no expm1, log1p, erf and erfc, GLSL no tanh to rely on: KForge's own, here as C++.
TEST(SmithMath, FunctionsOfDeviceLanguages) {
  const Function functions[] = {
      {"expm1", "expm1_of", "", std::expm1},     {"log1p", "log1p_of", "", std::log1p},
      {"tanh", "tanh_of", "", std::tanh},        {"sigmoid", "sigmoid_of", "", sigmoid},
      {"softplus", "softplus_of", "", softplus}, {"erf", "erf_of", "", std::erf},
      {"erfc", "erfc_of", "", std::erfc}};
  std::set<std::string> used;
  for (const Function& f : functions) used.insert(f.header);
  std::string text =
      "#include <cmath>\nusing std::fabs; using std::floor;\nnamespace precise { using std::exp; using "
      "std::log; }\n"
      "template <class T, class F> T as_type(F x) { return __builtin_bit_cast(T, x); }\n" +
      smith::device_prelude(smith::dialect_of(smith::DeviceLanguage::kMsl), used);
  for (const Function& f : functions)
    text += fmt::format(
        "extern \"C\" void device_{}(const float* x, float* y, long n) {{ for (long i = 0; i < n; ++i) y[i] "
        "= "
        "{}(x[i]); }}\n",
        f.name, f.header);
  void* handle = compiled(text, {"-ffp-contract=off"}, "device");
  ASSERT_NE(handle, nullptr);
  for (const Function& f : functions)
    check(handle, std::string("device_") + f.name, f, exact_values(f), "of devices");
}

}  // namespace
}  // namespace kforge
