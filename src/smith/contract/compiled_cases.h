// For tests: many small emitted kernels compiled as one program, each checked against loops that a child
// could write. One compilation per family keeps the tests fast.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/files.h"
#include "base/subprocess.h"
#include "smith/contract/convolution.h"
#include "smith/kernels/kernel_text.h"

namespace kforge::smith {

// A finish that stores the sums as they are into pointer[batch * batch_stride + row * row_stride + column].
inline Finish plain_store(const std::string& pointer, long batch_stride, long row_stride) {
  return [=](const FinishSite& site) {
    return fmt::format("{}({}{} + row * {} + column, load<{}>(sum_at + column));",
                       site.stream ? "stream" : "store", pointer,
                       batch_stride ? fmt::format(" + batch * {}", batch_stride) : "", row_stride,
                       site.lanes == 1 ? "float" : "Vec");
  };
}
// The same for y[images][groups * filters][pixels].
inline Finish plain_image_store(const std::string& pointer, const Convolution& c) {
  const long pixels = product(c.output);
  return plain_store(pointer, c.filters * pixels, pixels);
}

class CompiledCases {
 public:
  // `sizes`: floats of each tensor, in order; the last one is the result. `expected` are statements that fill
  // `double want[]` from the tensors by name.
  void add(const ContractionCode& code, const std::vector<Tensor>& tensors, const std::vector<long>& sizes,
           const std::string& expected, const std::string& label, double tolerance = 2e-6) {
    // Namespaces must differ.
    const std::string unique = fmt::format("case_{}", count_++);
    headers_.insert(code.headers.begin(), code.headers.end());
    definitions_ += fmt::format("namespace {} {{\n{}\n", unique, code.definitions);
    std::string body = fmt::format("bool check() {{\n  using code = {};\n", code.name);
    std::string list, prepare_list;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const bool result = i + 1 == tensors.size();
      std::string element = tensors[i].type;
      for (const char* word : {"const ", "*"})
        if (const auto at = element.find(word); at != std::string::npos)
          element.erase(at, std::string(word).size());
      body += fmt::format("  Guarded<{0}> own_{1}({2}, {3});\n  {0}* const {1} = own_{1}.data;\n", element,
                          tensors[i].name, sizes[i], result ? "true" : "false");
      list += (i ? ", " : "") + tensors[i].name;
    }
    body += fmt::format("  std::vector<float> prepared({}), scratch({});\n", code.prepared_floats + 64,
                        code.scratch_floats + 64);
    if (code.prepared_floats > 0) body += fmt::format("  code::prepare({{{}}}, aligned(prepared));\n", list);
    body += fmt::format(
        "#pragma omp parallel num_threads({})\n  code::work({{{}}}, aligned(prepared), aligned(scratch));\n",
        code.threads, list);
    body += fmt::format("  std::vector<double> want({});\n{}\n", sizes.back(), expected);
    body += fmt::format("  return same(\"{}\", want, {}, {}, {});\n}}\n", label, tensors.back().name,
                        sizes.back(), tolerance);
    definitions_ += body + "}\n";
    calls_ += fmt::format("  good &= {}::check();\n", unique);
  }

  // Compiles and runs; an empty string when all agree, else what did not. `before`: stands before the
  // kernels.
  std::string run(const std::vector<std::string>& flags = {"-march=x86-64-v3"},
                  const std::string& before = "") {
    const std::string text = fmt::format(R"(#include <immintrin.h>
#include <omp.h>
#include <sys/mman.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>
{}
namespace {{
{}
}}
static float* aligned(std::vector<float>& v) {{
  return reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(v.data()) + 63) / 64 * 64);
}}
// A tensor that ends where its memory ends, so that the address sanitizer sees a read too far; results start as NaN.
template <class T>
struct Guarded {{
  T* data;
  Guarded(long n, bool result) : data(static_cast<T*>(aligned_alloc(64, (n * sizeof(T) + 63) / 64 * 64))) {{
    static unsigned state = 1;
    for (long i = 0; i < n; ++i) {{
      state = state * 1664525u + 1013904223u;
      const int whole = static_cast<int>(state >> 16) % 17 - 8;
      data[i] = result ? static_cast<T>(NAN) : static_cast<T>(whole) / static_cast<T>(sizeof(T) == 4 ? 4 : 1);
    }}
  }}
  ~Guarded() {{ free(data); }}
}};
static bool same(const char* what, const std::vector<double>& want, const float* got, long n, double tolerance) {{
  double scale = 1;
  for (double w : want) scale = std::max(scale, std::fabs(w));
  for (long i = 0; i < n; ++i)
    if (!(std::fabs(want[i] - got[i]) <= tolerance * scale)) {{
      std::printf("%s: element %ld is %g, not %g\n", what, i, got[i], want[i]);
      return false;
    }}
  return true;
}}
{}
int main() {{
  bool good = true;
{}  return good ? 0 : 1;
}}
)",
                                         before, kernel_text(headers_), definitions_, calls_);
    auto folder = TempDir::create();
    if (!folder) return folder.error().text();
    const std::string source = folder->path() / "cases.cc", program = folder->path() / "cases";
    if (auto done = write_file_atomic(source, text); !done) return done.error().text();
    if (const char* keep = std::getenv("KFORGE_KEEP_CASES")) (void)write_file_atomic(keep, text);
    Command compile{{"g++", "-std=c++20", "-O1", "-fopenmp", "-w", source, "-o", program}};
    compile.argv.insert(compile.argv.end(), flags.begin(), flags.end());
    compile.timeout = std::chrono::minutes(5);
    auto compiled = run_command(compile);
    if (!compiled) return compiled.error().text();
    if (!compiled->ok()) return compiled->err.substr(0, 4000);
    Command start{{program}};
    start.timeout = std::chrono::minutes(2);
    auto finished = run_command(start);
    if (!finished) return finished.error().text();
    if (finished->ok()) return "";
    return fmt::format("exit code {}, signal {}\n{}{}", finished->exit_code, finished->signal, finished->out,
                       finished->err.substr(0, 4000));
  }

  int count() const { return count_; }

 private:
  std::string definitions_, calls_;
  std::set<std::string> headers_ = {"vectors/vectors.h", "memory/stream.h"};
  int count_ = 0;
};

}  // namespace kforge::smith
