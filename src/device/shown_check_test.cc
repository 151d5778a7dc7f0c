// A process that shows too little, or nonsense, is not believed.
#include "device/shown_check.h"

#include <gmock/gmock.h>

#include <cstring>

namespace kforge {
namespace {

using testing::HasSubstr;

class Shown : public testing::Test {
 protected:
  Shown()
      : check_({{"x", 16, false, false}, {"y", 16, false, true}},
               std::vector<std::byte>(KFORGE_GUARD_BYTES)) {
    check_.note(0, 0, std::as_bytes(std::span(values_)));
    check_.begin(false);
  }
  void add(std::uint32_t part, std::int32_t tensor, std::span<const std::byte> bytes) {
    KforgeShownRow& row = head_.row[head_.rows++];
    row.part = part, row.tensor = tensor, row.bytes = bytes.size(), row.at = sizeof head_ + data_.size();
    data_.insert(data_.end(), bytes.begin(), bytes.end());
  }
  void add_guards(std::int32_t tensor) {
    const std::vector<std::byte> guard(KFORGE_GUARD_BYTES);
    add(KFORGE_SHOWN_BEFORE, tensor, guard);
    add(KFORGE_SHOWN_AFTER, tensor, guard);
  }
  std::string found() {
    std::vector<std::byte> window(sizeof head_);
    std::memcpy(window.data(), &head_, sizeof head_);
    window.insert(window.end(), data_.begin(), data_.end());
    if (auto broken = check_.look(window)) return *broken;
    constexpr std::uint32_t kSlot[] = {0};
    return check_.end(kSlot).value_or("");
  }

  float values_[4] = {1, 2, 3, 4};
  ShownCheck check_;
  KforgeShown head_{};
  std::vector<std::byte> data_;
};

TEST_F(Shown, AllOfItIsRight) {
  add_guards(0);
  add(KFORGE_SHOWN_VALUES, 0, std::as_bytes(std::span(values_)));
  add_guards(1);
  EXPECT_EQ(found(), "");
}

TEST_F(Shown, WhatIsLeftOutIsMissed) {
  add_guards(0);
  add(KFORGE_SHOWN_VALUES, 0, std::as_bytes(std::span(values_)));
  EXPECT_THAT(found(), HasSubstr("memory of y was not shown"));
  check_.begin(false);
  add_guards(1);
  EXPECT_EQ(found(), "");
  check_.begin(false);
  head_ = {}, data_.clear();
  add_guards(0), add_guards(1);
  EXPECT_NE(found(), "") << "an input without its values";
}

TEST_F(Shown, RowsThatPointElsewhereAreRefused) {
  add_guards(0);
  head_.row[0].at = ~std::uint64_t{0} - 8;
  EXPECT_THAT(found(), HasSubstr("cannot be read"));
  head_.row[0].at = sizeof head_;
  head_.row[0].tensor = 7;
  EXPECT_THAT(found(), HasSubstr("cannot be read"));
  head_.rows = KFORGE_MAX_SHOWN_ROWS + 1;
  EXPECT_THAT(found(), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace kforge
