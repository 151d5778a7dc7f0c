#include "smith/graph/check_program.h"

#include <gmock/gmock.h>

namespace kforge::smith {
namespace {

using ::testing::HasSubstr;
using Where = TensorInfo::Where;

// y[i] = x[i], z[i] = y[i]
Program two_copies() {
  Program program;
  const auto add = [&](const std::string& name, Where where) {
    program.tensors[name] = {.name = name, .dtype = DType::kFloat32, .shape = {4}, .where = where};
  };
  add("x", Where::kInput), add("y", Where::kTemporary), add("z", Where::kOutput);
  const Expr i = variable("i", 4);
  const auto copy = [&](const std::string& to, const std::string& from) {
    Stage stage;
    stage.tensor = to, stage.view = {4}, stage.dims = {i};
    stage.body = load(from, DType::kFloat32, {4}, {i});
    program.stages.push_back(stage);
  };
  copy("y", "x"), copy("z", "y");
  return program;
}

TEST(CheckProgram, AProgramThatMakesSenseIsGood) { EXPECT_TRUE(check_program(two_copies())); }

TEST(CheckProgram, WhatIsWrongIsNamed) {
  const auto wrong = [](auto&& change) {
    Program program = two_copies();
    change(program);
    auto result = check_program(program);
    return result ? std::string() : result.error().message;
  };
  EXPECT_THAT(wrong([](Program& p) { std::swap(p.stages[0], p.stages[1]); }),
              HasSubstr("'z' reads 'y' before it is defined"));
  EXPECT_THAT(wrong([](Program& p) { p.tensors.erase("y"); }), HasSubstr("'y' is written and not known"));
  EXPECT_THAT(wrong([](Program& p) { p.stages[1].tensor = "x"; }), HasSubstr("'x' is written and may not"));
  EXPECT_THAT(wrong([](Program& p) { p.stages.pop_back(); }), HasSubstr("nothing defines output 'z'"));
  EXPECT_THAT(wrong([](Program& p) { p.stages[0].dims.clear(); }), HasSubstr("1 dimensions and 0 variables"));
  EXPECT_THAT(wrong([](Program& p) { p.stages[0].view = {5}; }), HasSubstr("another size"));
  EXPECT_THAT(wrong([](Program& p) { p.stages[0].combine = Combine::kSum; }),
              HasSubstr("combines over nothing"));
}

TEST(CheckProgram, WhatPrepareDefinesIsThere) {
  Program program = two_copies(), prepared = program;
  prepared.stages.pop_back();
  program.stages.erase(program.stages.begin());
  EXPECT_FALSE(check_program(program));
  EXPECT_TRUE(check_program(program, prepared));
}

}  // namespace
}  // namespace kforge::smith
