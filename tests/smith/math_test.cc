// The vector functions of emitted kernels, over the whole range of float, in units of the last place.
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/subprocess.h"
#include "compiled_kernels.h"
#include "smith/emit/prelude.h"

namespace kforge {
namespace {

struct Function {
  const char* name;
  const char* call;
  double (*exact)(double);
};
const Function kFunctions[] = {
    {"exp", "exp_of", [](double x) { return std::exp(x); }},
    {"expm1", "expm1_of", [](double x) { return std::expm1(x); }},
    {"log", "log_of", [](double x) { return std::log(x); }},
    {"log1p", "log1p_of", [](double x) { return std::log1p(x); }},
    {"tanh", "tanh_of", [](double x) { return std::tanh(x); }},
    {"sigmoid", "sigmoid_of",
     [](double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }},
    {"softplus", "softplus_of",
     [](double x) { return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }},
    {"erf", "erf_of", [](double x) { return std::erf(x); }},
    {"erfc", "erfc_of", [](double x) { return std::erfc(x); }},
    {"sqrt", "sqrt_of", [](double x) { return std::sqrt(x); }},
};

// Distance in units of the last place of the exact value, denormals counted as they are spaced.
double ulps(float got, double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e9;
  const auto rounded = static_cast<float>(want);
  if (std::isinf(rounded) || std::isinf(got))
    return rounded == got || std::fabs(want) > 3.4028e38 * 0.9999 ? 0 : 1e9;
  const float next = std::nextafter(std::fabs(rounded), INFINITY);
  const double unit =
      std::isinf(next) ? 2.028e31 : static_cast<double>(next) - std::fabs(static_cast<double>(rounded));
  return std::fabs(static_cast<double>(got) - want) / unit;
}

TEST(SmithMath, FourUnitsOverTheWholeRange) {
  auto machine = describe_machine();
  ASSERT_TRUE(machine);
  namespace fs = std::filesystem;
  for (const auto& flags : instruction_sets(*machine)) {
    const fs::path folder = fs::temp_directory_path() / fmt::format("smith_math_{}", getpid());
    fs::create_directories(folder);
    const fs::path source = folder / "math.cc",
                   library = folder / fmt::format("math{}.so", flags[0].size() + flags.size());
    std::set<std::string> used{"each"};
    for (const Function& f : kFunctions) used.insert(f.name);
    {
      std::ofstream file(source);
      file
          << "#include <immintrin.h>\n#include <cmath>\n#include <cstdint>\n#include <utility>\nnamespace {\n"
          << smith::prelude(used) << "}\n";
      for (const Function& f : kFunctions)
        file << fmt::format(
            "extern \"C\" void run_{0}(const float* x, float* y, long n) {{ for (long i = 0; i + kLanes <= "
            "n; i += kLanes) store(y + i, {1}(load<Vec>(x + i))); }}\n"
            "extern \"C\" float one_{0}(float x) {{ return {1}<float>(x); }}\n",
            f.name, std::string(f.call) == "sqrt_of" ? "(sqrt_of)" : f.call);
    }
    std::string text;
    {
      std::ifstream in(source);
      text.assign(std::istreambuf_iterator<char>(in), {});
      for (std::size_t at; (at = text.find("(sqrt_of)<float>")) != std::string::npos;)
        text.replace(at, 16, "sqrt_of");
    }
    std::ofstream(source) << text;
    Command command{{"g++", "-std=c++20", "-O2", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-shared",
                     "-w", "-o", library.string(), source.string()}};
    command.argv.insert(command.argv.begin() + 1, flags.begin(), flags.end());
    const auto built = run_command(command);
    ASSERT_TRUE(built && built->ok()) << (built ? built->err : built.error().message);
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << dlerror();
    // Every 1009th bit pattern, and the special ones.
    std::vector<float> x;
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 1009) {
      float v;
      const auto narrow = static_cast<std::uint32_t>(bits);
      std::memcpy(&v, &narrow, 4);
      x.push_back(v);
    }
    for (float v :
         {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1.0f, -1.0f, 88.7228394f, -87.3365f, -103.97f, 1e-45f})
      x.push_back(v);
    while (x.size() % 16 != 0) x.push_back(0.5f);
    std::vector<float> y(x.size());
    for (const Function& f : kFunctions) {
      auto run = reinterpret_cast<void (*)(const float*, float*, long)>(
          dlsym(handle, fmt::format("run_{}", f.name).c_str()));
      run(x.data(), y.data(), static_cast<long>(x.size()));
      double worst = 0;
      float worst_at = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double off = ulps(y[i], f.exact(static_cast<double>(x[i])));
        if (off > worst) worst = off, worst_at = x[i];
      }
      EXPECT_LE(worst, 4) << f.name << " at " << worst_at << " with " << flags[0];
      RecordProperty(std::string(f.name), std::to_string(worst));
    }
    fs::remove_all(folder);
  }
}

}  // namespace
}  // namespace kforge
