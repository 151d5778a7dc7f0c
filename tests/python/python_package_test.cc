// The Python package `kforge`, used as a PyTorch user does.
#include "export/export_case.h"

namespace kforge {
namespace {

using testing::HasSubstr;

// The first Python whose PyTorch is at least this version; $KFORGE_TEST_PYTHON is asked first.
std::string python_with_torch_of(int major) {
  std::vector<fs::path> pythons = {kRoot / "out/torch2/bin/python", kRoot / "out/venv/bin/python",
                                   "/usr/bin/python3"};
  if (const char* named = std::getenv("KFORGE_TEST_PYTHON")) pythons.insert(pythons.begin(), named);
  for (const fs::path& python : pythons) {
    auto done =
        run_command({.argv = {python.string(), "-c",
                              "import importlib.metadata as m; print(m.version('torch').split('.')[0])"}});
    if (done && done->ok() && std::atoi(done->out.c_str()) >= major) return python.string();
    // Debian's package has no metadata.
    done = run_command({.argv = {python.string(), "-c",
                                 "import importlib.util as u; print(1 if u.find_spec('torch') else 0)"}});
    if (done && done->ok() && std::atoi(done->out.c_str()) >= major) return python.string();
  }
  return "";
}

class PythonPackage : public ExportCase {
 protected:
  Finished python(const std::string& program, std::vector<std::string> words) {
    words.insert(words.begin(), {program, "-B"});
    Command command{.argv = words, .cwd = here_, .timeout = std::chrono::minutes(5), .output_limit = 1 << 20};
    command.env = user_environment(home_);
    (*command.env)["KFORGE_BIN"] = kProgram.string();
    auto done = run_command(command);
    EXPECT_TRUE(done) << done.error().text();
    return done ? *done : Finished{.exit_code = -1};
  }
};

TEST_F(PythonPackage, OptimizesModulesAndJudgesKernels) {
  std::string program = python_with_torch_of(1);
  if (program.empty()) GTEST_SKIP() << "no Python with PyTorch: scripts/setup.sh platforms";
  scratch_task();
  std::ofstream(here_ / "kernel.cc") << kPrepared;
  Finished done = python(program, {kRoot / "tests/python/check_package.py", here_});
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("all hold"));
}

TEST_F(PythonPackage, IsABackendOfTorchCompile) {
  std::string program = python_with_torch_of(2);
  if (program.empty())
    GTEST_SKIP() << "torch.compile needs PyTorch 2: name a Python that has it in KFORGE_TEST_PYTHON";
  Finished done = python(program, {kRoot / "tests/python/check_compile.py"});
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("all hold"));
}

TEST_F(PythonPackage, BecomesAWheelWithoutANetwork) {
  Finished done =
      python("/usr/bin/python3",
             {"-Sc",
              "import sys; sys.path.insert(0, sys.argv[1]); import wheel_backend as w, zipfile\n"
              "name = w.build_wheel('.')\nwheel = zipfile.ZipFile(name)\n"
              "print(name, wheel.namelist(), wheel.read('kforge-0.1.0.dist-info/entry_points.txt'))",
              (kRoot / "python").string()});
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("kforge-0.1.0-py3-none-any.whl"));
  EXPECT_THAT(done.out, HasSubstr("'kforge/optimizer.py'"));
  EXPECT_THAT(done.out, HasSubstr("'kforge_bridge/exporters.py'"));
  EXPECT_THAT(done.out, HasSubstr("kforge = kforge.compile_backend:kforge"));
}

}  // namespace
}  // namespace kforge
