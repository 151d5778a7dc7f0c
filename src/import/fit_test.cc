#include "import/fit.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

// A module whose time is the product of its numbers, in nanoseconds.
FitQuestions product_time(int* measured = nullptr) {
  auto seconds = [](const Values& values) {
    double time = 1e-9;
    for (const auto& [name, value] : values) time *= static_cast<double>(value);
    return time;
  };
  FitQuestions questions;
  questions.guess = [=](const Values& values) {
    return std::optional(std::pair{seconds(values), 1e9 * seconds(values)});
  };
  questions.measure = [=](const Values& values) {
    if (measured) ++*measured;
    return std::optional(seconds(values));
  };
  return questions;
}

TEST(Fit, TimesAreReadWithTheirUnit) {
  EXPECT_DOUBLE_EQ(parse_fit("50ms").value(), 0.05);
  EXPECT_DOUBLE_EQ(parse_fit("2s").value(), 2);
  for (const char* wrong : {"", "50", "ms", "-1s", "1h", "0ms", "1e9s"})
    EXPECT_FALSE(parse_fit(wrong)) << wrong;
}

TEST(Fit, SizesThatAreRightStay) {
  auto fitted = fit_sizes({{"n", 40'000'000}}, {"n"}, 0.05, 1e12, product_time());
  ASSERT_TRUE(fitted);
  EXPECT_EQ(fitted->values.at("n"), 40'000'000);
  EXPECT_TRUE(fitted->made_smaller.empty());
}

TEST(Fit, OneNumberIsChangedWhereOneIsEnough) {
  auto fitted =
      fit_sizes({{"batch", 4096}, {"dim", 1'000'000}}, {"batch", "dim"}, 0.05, 1e12, product_time());
  ASSERT_TRUE(fitted);
  EXPECT_EQ(fitted->values.at("dim"), 1'000'000);
  EXPECT_EQ(fitted->made_smaller, std::set<std::string>{"batch"});
  EXPECT_NEAR(fitted->seconds, 0.05, 0.025);
}

TEST(Fit, MoreAreChangedWhereOneWouldVanish) {
  auto fitted =
      fit_sizes({{"batch", 8}, {"dim", 1'000'000'000}}, {"batch", "dim"}, 0.05, 1e12, product_time());
  ASSERT_TRUE(fitted);
  EXPECT_EQ(fitted->made_smaller.size(), 2u);
  EXPECT_GE(fitted->values.at("batch"), 1);
}

TEST(Fit, NothingIsMeasuredThatCannotFitInMemory) {
  FitQuestions questions = product_time();
  questions.measure = [&](const Values& values) {
    EXPECT_LE(values.at("n"), 1000);
    return std::optional(1e-9 * static_cast<double>(values.at("n")));
  };
  auto fitted = fit_sizes({{"n", 1 << 30}}, {"n"}, 5e-7, 1000, questions);
  ASSERT_TRUE(fitted);
  EXPECT_LE(fitted->values.at("n"), 1000);
}

TEST(Fit, WithoutASizeThatCanChangeItSaysSo) {
  EXPECT_FALSE(fit_sizes({{"k", 1 << 30}}, {}, 1e-3, 1e6, product_time()));
}

TEST(Fit, FewMeasurementsAreEnough) {
  int measured = 0;
  ASSERT_TRUE(fit_sizes({{"a", 1 << 14}, {"b", 1 << 16}}, {"a", "b"}, 0.01, 1e12, product_time(&measured)));
  EXPECT_LE(measured, 10);
}

}  // namespace
}  // namespace kforge
