// The user's own PyTorch, in its sandbox. Modules here are small, so that a process takes about a second, and
// all files of a test are imported together.
#include "import/import_many.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/opaque_modules.h"
#include "oracle/expected.h"
#include "task/module_numbers.h"
#include "task/task.h"

namespace kforge {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr const char* kHead = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n";

struct File {
  std::string name, text;
};

class Modules {
 public:
  explicit Modules(const std::vector<File>& files) : in_(*TempDir::create()), out_(*TempDir::create()) {
    for (const File& file : files) {
      fs::create_directories((in_.path() / file.name).parent_path());
      EXPECT_TRUE(write_scratch_file(in_.path() / file.name, kHead + file.text));
    }
  }

  void import(ImportOptions options = {}) {
    auto files = module_files(in_.path());
    ASSERT_TRUE(files) << files.error().message;
    for (ImportRow& row : import_many(in_.path(), *files, options, out_.path(), 2, [](const ImportRow&) {}))
      rows_[row.file.string()] = std::move(row);
  }
  const ImportedTask& task(const std::string& file) {
    const ImportRow& row = rows_[file];
    EXPECT_FALSE(row.error) << file << ": " << row.error->text();
    static const ImportedTask kNone;
    return row.task ? *row.task : kNone;
  }
  std::string error(const std::string& file) {
    return rows_[file].error ? rows_[file].error->text() : "none";
  }
  Task loaded(const std::string& folder) {
    auto task = load_task((out_.path() / folder).string());
    EXPECT_TRUE(task) << task.error().message;
    return task ? *task : Task{};
  }
  fs::path file(const std::string& name) const { return in_.path() / name; }

 private:
  TempDir in_, out_;
  std::map<std::string, ImportRow> rows_;
};

const Argument* find(const Task& task, const std::string& name) {
  for (const Argument& one : task.arguments)
    if (one.name == name) return &one;
  return nullptr;
}

bool has_torch() { return python_with_torch({}).has_value(); }

TEST(Import, ModulesBecomeTasksThatAgree) {
  if (!has_torch()) GTEST_SKIP() << python_with_torch({}).error().message;
  Modules modules({
      {"level2/7_Linear_Norm.py", R"(
class Model(nn.Module):
    """Multiplies, then normalises.  More words."""
    def __init__(self, in_features, out_features, shape):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.scale = nn.Parameter(torch.randn(shape))
        self.norm = nn.BatchNorm1d(out_features)
    def forward(self, x):
        return self.norm(self.linear(x) * self.scale)
batch_size = 4096
in_features, out_features = 1024 * 2, 512
shape = (out_features,)
def get_inputs():
    return [torch.rand(batch_size, in_features)]
def get_init_inputs():
    return [in_features, out_features, shape]
)"},
      {"conv.py", R"(
class Model(nn.Module):
    def __init__(self, channels, kernel_size, groups):
        super().__init__()
        self.conv = nn.Conv2d(channels, 2 * channels, kernel_size, groups=groups)
        self.register_buffer("table", torch.arange(2 * channels).float().view(1, -1, 1, 1))
        self.drop = nn.Dropout(0.2)
    def forward(self, x, power):
        y = self.drop(self.conv(x) + self.table)
        return y.view(y.size(0), -1) ** power
batch_size = 64
channels = 8
kernel_size = 3
groups = 4
height = 256
def get_inputs():
    return [torch.randn(batch_size, channels, height, 9), 2.0]
def get_init_inputs():
    return [channels, kernel_size, groups]
)"},
      {"groups.py", R"(
class Model(nn.Module):
    def __init__(self, features, num_groups):
        super().__init__()
        self.norm = nn.GroupNorm(num_groups, features)
    def forward(self, x):
        return self.norm(x)
batch_size = 512
features = 4096
num_groups = 64
def get_inputs():
    return [torch.rand(batch_size, features)]
def get_init_inputs():
    return [features, num_groups]
)"},
      {"loss.py", R"(
class Model(nn.Module):
    def forward(self, predictions, targets):
        return F.cross_entropy(predictions, targets)
batch_size = 32768
num_classes = 10
def get_inputs():
    return [torch.rand(batch_size, num_classes), torch.randint(0, num_classes, (batch_size,))]
def get_init_inputs():
    return []
)"},
      {"equal.py", R"(
class Model(nn.Module):
    def forward(self, predictions, targets):
        return torch.mean(torch.clamp(1 - predictions * targets, min=0))
rows = 4096
input_shape = (4096,)
def get_inputs():
    return [torch.rand(rows, *input_shape), torch.randint(0, 2, (rows,)).float() * 2 - 1]
)"},
      {"constant.py", R"(
class Model(nn.Module):
    def forward(self, x):
        return torch.clamp(torch.minimum(x, torch.tensor(0.0)), min=0.0, max=1.0)
n = 64
def get_inputs():
    return [torch.rand(n)]
)"},
  });
  modules.import();
  const ImportedTask& linear = modules.task("level2/7_Linear_Norm.py");
  EXPECT_EQ(linear.origin, "KernelBench level 2 #7");
  EXPECT_EQ(linear.description, "Multiplies, then normalises.");
  EXPECT_THAT(linear.sized.symbols, UnorderedElementsAre("batch_size", "in_features", "out_features"));
  EXPECT_LT(linear.sized.agreement.wide, 1e-6);
  EXPECT_LT(linear.sized.agreement.narrow, 1e-4);
  EXPECT_THAT(linear.notes, Contains(HasSubstr("statistics of the batch")));

  Task task = modules.loaded("level2/7_Linear_Norm");
  ASSERT_TRUE(task.module);
  EXPECT_EQ(task.module->numbers.at("in_features"), 2048);
  EXPECT_THAT(task.module->text, HasSubstr("class Model"));
  EXPECT_EQ(task.shapes.at("bench")[0].dims.at("batch_size"), 4096);
  const Argument* x = find(task, "x");
  const Argument* weight = find(task, "linear_weight");
  ASSERT_TRUE(x && weight && find(task, "scale") && find(task, "norm_bias"));
  EXPECT_FALSE(find(task, "norm_running_mean"));
  EXPECT_EQ(x->role, Role::kInput);
  EXPECT_EQ(weight->role, Role::kParam);
  EXPECT_EQ(x->distribution.kind, Distribution::Kind::kUniform);
  EXPECT_NEAR(x->distribution.a, 0, 1e-9);
  EXPECT_NEAR(x->distribution.b, 1, 1e-9);
  // Weights are drawn as at the real sizes: 1 / sqrt(2048).
  EXPECT_NEAR(weight->distribution.b, 0.0221, 0.002);
  EXPECT_EQ(find(task, "scale")->distribution.kind, Distribution::Kind::kNormal);

  // Targets of all rows are broadcast along the columns: there must be as many of these.
  const ImportedTask& equal = modules.task("equal.py");
  EXPECT_THAT(equal.sized.symbols, UnorderedElementsAre("input_shape_0"));
  EXPECT_THAT(equal.sized.equal, UnorderedElementsAre(testing::Pair("rows", "input_shape_0")));
  Task tied = modules.loaded("equal");
  auto odd = bind_task(tied, "odd");
  ASSERT_TRUE(odd) << odd.error().message;
  const auto numbers = module_numbers(*odd).numbers;
  EXPECT_EQ(numbers.at("rows"), numbers.at("input_shape_0"));
  EXPECT_NE(numbers.at("rows"), 4096);

  const ImportedTask& conv = modules.task("conv.py");
  EXPECT_THAT(conv.sized.symbols, UnorderedElementsAre("batch_size", "height"));
  EXPECT_THAT(conv.sized.fixed.at("kernel_size"), HasSubstr("kernel_shape"));
  EXPECT_THAT(conv.sized.fixed.at("groups"), HasSubstr("conv_weight"));
  EXPECT_THAT(conv.flags, Contains("stochastic"));
  EXPECT_THAT(conv.notes, Contains(HasSubstr("power is 2.0")));
  Task second = modules.loaded("conv");
  ASSERT_TRUE(find(second, "table"));
  EXPECT_EQ(find(second, "table")->distribution.kind, Distribution::Kind::kFixed);
  EXPECT_EQ(second.module->flags, std::vector<std::string>{"stochastic"});

  // A matrix has no axes behind its channels, and 64 groups need as many of them.
  EXPECT_THAT(modules.task("groups.py").sized.symbols, UnorderedElementsAre("batch_size", "features"));

  Task loss = modules.loaded("loss");
  ASSERT_TRUE(find(loss, "targets"));
  auto bound = bind_task(loss, "bench");
  ASSERT_TRUE(bound) << bound.error().message;
  EXPECT_EQ(bound->arguments[1].distribution.b, 10);  // every class, not only those that were seen

  EXPECT_THAT(modules.task("constant.py").flags, ElementsAre("constant"));
}

TEST(Import, WhatIsWrongIsSaidWithItsLineAndStopsNoOther) {
  if (!has_torch()) GTEST_SKIP() << python_with_torch({}).error().message;
  const std::string good = "def get_inputs():\n    return [torch.rand(8)]\n";
  const std::string relu = "class Model(nn.Module):\n    def forward(self, x):\n        return x.relu()\n";
  Modules modules({
      {"good.py", relu + good},
      {"syntax.py", "class Model(nn.Module:\n    pass\n"},
      {"missing_package.py", "import a_package_that_nobody_has\n" + relu + good},
      {"newer_torch.py", "F.a_function_of_next_year\n" + relu + good},
      {"no_inputs.py", relu},
      {"exits.py", "import sys\nsys.exit(3)\n" + relu + good},
      {"dies.py", "import os\nos.abort()\n" + relu + good},
      {"prints.py", "for i in range(100000):\n    print('x' * 100)\n" + relu + good},
      {"cuda.py", relu + "def get_inputs():\n    return [torch.rand(8).cuda()]\n"},
      {"hungry.py", relu + "def get_inputs():\n    return [torch.rand(100 * 2**28)]\n"},
      {"downloads.py", "import urllib.request\n" + relu +
                           "def get_inputs():\n    urllib.request.urlopen('http://example.com/weights')\n    "
                           "return [torch.rand(8)]\n"},
      {"talks.py", "import os\nos.write(3, b'[1]\\n')\n" + relu + good},
      {"raises.py", relu + "def get_inputs():\n    raise ValueError('not today')\n"},
      {"random.py",
       "class Model(nn.Module):\n    def forward(self, x):\n        return x + torch.randn(8)\n" + good},
  });
  modules.import();
  EXPECT_EQ(modules.task("good.py").name, "good");
  EXPECT_EQ(modules.task("prints.py").name, "prints");
  EXPECT_THAT(modules.error("syntax.py"), AllOf(HasSubstr("syntax.py:4"), HasSubstr("SyntaxError")));
  EXPECT_THAT(
      modules.error("missing_package.py"),
      AllOf(HasSubstr("missing_package.py:4"), HasSubstr("a_package_that_nobody_has"), HasSubstr("install")));
  EXPECT_THAT(modules.error("newer_torch.py"),
              AllOf(HasSubstr("newer_torch.py:4"), HasSubstr("name a newer one with --python")));
  EXPECT_THAT(modules.error("no_inputs.py"), HasSubstr("defines no get_inputs"));
  EXPECT_THAT(modules.error("exits.py"), AllOf(HasSubstr("exits.py:5"), HasSubstr("SystemExit")));
  EXPECT_THAT(modules.error("dies.py"), HasSubstr("signal 6"));
  EXPECT_THAT(modules.error("cuda.py"), AllOf(HasSubstr("cuda.py:8"), HasSubstr("on the processor")));
  EXPECT_THAT(modules.error("hungry.py"), AllOf(HasSubstr("hungry.py:8"), HasSubstr("--set")));
  EXPECT_THAT(modules.error("downloads.py"), HasSubstr("without a network"));
  EXPECT_THAT(modules.error("talks.py"), HasSubstr("talks.py"));
  EXPECT_THAT(modules.error("raises.py"), AllOf(HasSubstr("raises.py:8"), HasSubstr("not today")));
  EXPECT_THAT(modules.task("random.py").flags, ElementsAre("opaque", "stochastic"));
}

// What no exporter takes is computed by the module itself: as a new one in every call, in float64.
TEST(Import, AModuleWithoutAGraphIsItsOwnReference) {
  if (!has_torch()) GTEST_SKIP() << python_with_torch({}).error().message;
  Modules modules(std::vector<File>{{"keeps.py", R"(
class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(2 * width, width)
        self.before = torch.full((3,), 2.0)
        self.calls = 0
    def forward(self, x):
        self.calls += 1
        self.before = self.before + self.calls
        hidden = self.fc(torch.cat((x, x), 1))
        return hidden.detach().numpy().sum() + hidden * float(self.before.sum())
batch_size = 512
width = 256
def get_inputs():
    return [torch.rand(batch_size, width)]
def get_init_inputs():
    return [width]
)"}});
  modules.import();
  const ImportedTask& imported = modules.task("keeps.py");
  EXPECT_THAT(imported.flags, Contains("opaque"));
  EXPECT_THAT(imported.sized.symbols, UnorderedElementsAre("batch_size", "width", "fc_weight_1"));
  EXPECT_THAT(imported.notes, Contains(HasSubstr("keeps state")));
  Task task = modules.loaded("keeps");
  EXPECT_EQ(task.shapes.at("bench")[0].dims.at("fc_weight_1"), 512);
  ASSERT_TRUE(find(task, "before"));  // the result depends on it: a program must be given it
  EXPECT_EQ(find(task, "before")->distribution.kind, Distribution::Kind::kFixed);

  auto bound = bind_task(task, "small");
  ASSERT_TRUE(bound) << bound.error().message;
  EXPECT_THAT(expected_outputs(*bound, InputKind::kOwn, 1, 1, nullptr).error().message,
              HasSubstr("nothing here runs PyTorch modules"));
  set_opaque_modules(pytorch_modules({}, std::nullopt));
  auto first = expected_outputs(*bound, InputKind::kOwn, 1, 1, nullptr),
       again = expected_outputs(*bound, InputKind::kOwn, 1, 1, nullptr);
  set_opaque_modules(nullptr);
  ASSERT_TRUE(first) << first.error().text();
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(first->outputs[0].shape, (Shape{2, 16}));
  EXPECT_EQ(first->outputs[0].values, again->outputs[0].values);
  EXPECT_GT(first->outputs[0].rms, 0.01);
  EXPECT_LT(first->outputs[0].yardstick_worst_abs, 1e-3 * first->outputs[0].rms);
}

TEST(Import, NumbersCanBeSetAndFitted) {
  if (!has_torch()) GTEST_SKIP() << python_with_torch({}).error().message;
  Modules modules(std::vector<File>{{"big.py", R"(
class Model(nn.Module):
    def forward(self, a, b):
        return a @ b
M = 1
rows = 65536
inner = 4096
def get_inputs():
    return [torch.rand(rows, inner), torch.rand(inner, 256)]
)"}});
  ImportOptions options;
  options.set = {{"inner", 2048}};
  options.fit_seconds = 0.02;
  modules.import(options);
  const ImportedTask& task = modules.task("big.py");
  EXPECT_EQ(task.bench.at("inner"), 2048);
  EXPECT_LT(task.bench.at("rows"), 65536);
  EXPECT_EQ(task.real.at("rows"), 65536);
  EXPECT_THAT(task.notes, Contains(HasSubstr("rows = ")));
  EXPECT_EQ(modules.loaded("big").shapes.at("full")[0].dims.at("rows"), 65536);

  options.set = {{"iner", 3}};
  modules.import(options);
  EXPECT_THAT(modules.error("big.py"), AllOf(HasSubstr("'iner'"), HasSubstr("inner")));
}

TEST(Import, FilesAreCountedAsPeopleCount) {
  Modules modules({{"level1/10_B.py", "class Model: pass"},
                   {"level1/9_A.py", "class Model: pass"},
                   {"helper.py", "x = 1"},
                   {"level2/1_C.py", "class Model: pass"}});
  auto files = module_files(modules.file("level1").parent_path());
  ASSERT_TRUE(files);
  EXPECT_THAT(*files, ElementsAre("level1/9_A.py", "level1/10_B.py", "level2/1_C.py"));
  EXPECT_FALSE(module_files(modules.file("nothing")));
}

}  // namespace
}  // namespace kforge
