// Exports for PyTorch: their own test, two of them in one process, and a wheel made without a network.
#include "export/export_case.h"

namespace kforge {
namespace {

using testing::HasSubstr;

// A Python with PyTorch, or nothing.
std::string python_with_torch() {
  for (const fs::path& python : {kRoot / "out/venv/bin/python", fs::path("/usr/bin/python3")}) {
    auto done =
        run_command({.argv = {python.string(), "-c",
                              "import importlib.util as u, sys; sys.exit(not u.find_spec('torch'))"}});
    if (done && done->ok()) return python.string();
  }
  return "";
}

class PytorchExport : public ExportCase {
 protected:
  // A module with its file beside the graph, as an import leaves it.
  fs::path module_task() {
    fs::path task = here_ / "normalised";
    fs::create_directories(task);
    std::ofstream(task / "graph.onnx.txt")
        << "normalised (float[4, 8] x, float[16, 8] fc_weight, float[16] bn_weight, float[16] bn_bias, "
           "float[16] bn_running_mean, float[16] bn_running_var) => (float[4, 16] y)\n{\n"
           "  wt = Transpose <perm = [1, 0]> (fc_weight)\n  h = MatMul(x, wt)\n"
           "  y = BatchNormalization <epsilon = 1e-5> (h, bn_weight, bn_bias, bn_running_mean, "
           "bn_running_var)\n}\n";
    std::ofstream(task / "task.toml")
        << "description = \"a product, normalised\"\n[shapes]\nbench = {}\nsmall = {}\nodd = {}\n[tensors]\n"
           "fc_weight = { role = \"param\" }\nbn_weight = { role = \"param\" }\nbn_bias = { role = \"param\" "
           "}\n"
           "bn_running_mean = { role = \"param\" }\nbn_running_var = { role = \"param\", values = "
           "\"positive(0.5, 2)\" }\n"
           "[module]\nfile = \"reference.py\"\nnumbers = { batch = 4 }  # the file has others\n";
    std::ofstream(task / "reference.py") << R"(import torch

batch = 1024

class Model(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.fc = torch.nn.Linear(8, features, bias=False)
        self.bn = torch.nn.BatchNorm1d(features)

    def forward(self, x):
        return self.bn(self.fc(x))


def get_inputs():
    return [torch.randn(batch, 8)]


def get_init_inputs():
    return [16]
)";
    return task;
  }
  static constexpr const char* kNormalised = R"(#include "task.h"
extern "C" void kernel(const float* x, const float* w, const float* scale, const float* bias, const float* mean,
                       const float* var, float* y) {
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 16; ++j) {
      float sum = 0;
      for (int k = 0; k < 8; ++k) sum += x[i * 8 + k] * w[j * 8 + k];
      y[i * 16 + j] = (sum - mean[j]) / __builtin_sqrtf(var[j] + 1e-5f) * scale[j] + bias[j];
    }
}
)";
};

TEST_F(PytorchExport, TestThemselvesLiveTogetherAndBecomeWheels) {
  std::string python = python_with_torch();
  if (python.empty()) GTEST_SKIP() << "no Python with PyTorch: scripts/setup.sh platforms";
  ASSERT_EQ(exported(judged(scratch_task(), kPrepared), {"--as", "wheel", "-o", "graph"}).exit_code, 0);
  Finished module = exported(judged(module_task(), kNormalised), {"--as", "pytorch", "-o", "module"});
  ASSERT_EQ(module.exit_code, 0) << module.err;
  EXPECT_THAT(module.out, HasSubstr("python3 test.py"));

  auto quoted = [](const fs::path& path) { return "\"" + path.string() + "\""; };
  Finished together =
      shell(quoted(python) + " " + quoted(kRoot / "tests/export/check_pytorch.py") + " graph module");
  EXPECT_EQ(together.exit_code, 0) << together.out << together.err;
  EXPECT_THAT(together.out, HasSubstr("all hold"));

  Finished own = shell(quoted(python) + " -B graph/test.py");
  EXPECT_EQ(own.exit_code, 0) << own.out << own.err;
  EXPECT_THAT(own.out, HasSubstr("agrees with the original on 5 inputs"));
  EXPECT_THAT(own.out, HasSubstr("with its wrapper"));

  // pip is slow to start and may not be there: what it calls is the backend. Without PyTorch, as in pip's own
  // environment.
  Finished wheel = shell("cd graph && mkdir dist && " + quoted(python) +
                         " -BSc 'import wheel_backend as w; print(w.build_wheel(\"dist\"))' && " +
                         quoted(python) + " -m zipfile -l dist/*.whl");
  EXPECT_EQ(wheel.exit_code, 0) << wheel.out << wheel.err;
  EXPECT_THAT(wheel.out, HasSubstr("linux_x86_64.whl"));
  EXPECT_THAT(wheel.out, HasSubstr("/libscale_add.so"));
  EXPECT_THAT(wheel.out, HasSubstr("/RECORD"));
}

}  // namespace
}  // namespace kforge
