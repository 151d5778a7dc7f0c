#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/subprocess.h"
#include "task/scratch_task.h"

namespace kforge {
namespace {

using testing::HasSubstr;

constexpr const char* kToml = R"(description = "odd names and types"
[shapes]
bench = { B = 8, int = 2 }
small = { B = 2, int = 2 }
odd = { B = 3, int = 1 }
[tensors.w]
role = "param"
[tensors.m]
role = "inout"
output = "m2"
)";
constexpr const char* kGraph =
    "g (float[B, int] x, bfloat16[int] w, bool[B] flag, float16[B] m, int8[B] class) => (float[B, 1, C] y, "
    "float16[B] m2, bfloat16[int] w2)"
    "<int64[1] a = {1}> { y = Unsqueeze(x, a) m2 = Neg(m) w2 = Abs(w) n = Not(flag) c = Abs(class) }";

TEST(TaskHeader, Prototypes) {
  ScratchTask scratch(kToml, kGraph);
  std::string header = make_task_header(scratch.bind("small"));
  EXPECT_THAT(header, HasSubstr("inline constexpr long B = 2, C = 2, int_ = 2;"));
  EXPECT_THAT(
      header,
      HasSubstr(
          "extern \"C\" void kernel(const float* x, const uint16_t* w, const uint8_t* flag, _Float16* m, "
          "const int8_t* class_, float* y, uint16_t* w2);"));
  EXPECT_THAT(header, HasSubstr("extern \"C\" void* prepare(const uint16_t* w);"));
  EXPECT_THAT(header, HasSubstr("kernel_prepared(void* state, const float* x, const uint8_t* flag, _Float16* "
                                "m, const int8_t* class_, "
                                "float* y, uint16_t* w2);"));
}

TEST(TaskHeader, Compiles) {
  ScratchTask scratch(kToml, kGraph);
  auto folder = TempDir::create();
  ASSERT_TRUE(write_file_atomic(folder->path() / "task.h", make_task_header(scratch.bind("small"))));
  ASSERT_TRUE(
      write_file_atomic(folder->path() / "k.cc", "#include \"task.h\"\nstatic_assert(task::B == 2);\n"));
  Command command;
  command.argv = {"g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "k.cc"};
  command.cwd = folder->path();
  auto finished = run_command(command);
  ASSERT_TRUE(finished);
  EXPECT_TRUE(finished->ok()) << finished->err;
}

TEST(TaskHeader, HostileWordsStayInTheComment) {
  ScratchTask scratch("description = \"a\\nint evil; \\\\\"\n[shapes]\n",
                      "g (float[2] x) => (float[2] y) { y = Relu(x) }");
  std::string header = make_task_header(scratch.bind("small"));
  EXPECT_THAT(header, HasSubstr("// a int evil;"));
  EXPECT_EQ(header.find("\nint evil"), std::string::npos);
  EXPECT_EQ(header.find('\\'), std::string::npos);
}

}  // namespace
}  // namespace kforge
