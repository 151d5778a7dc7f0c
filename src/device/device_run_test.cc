// What a device program may not do to its memory, on a device that is a vector of bytes.
#include "device/device_run.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <map>

#include "device/shown_check.h"

namespace kforge {
namespace {

using testing::HasSubstr;

struct FakeMemory final : DeviceMemory {
  explicit FakeMemory(std::size_t size) : own(size), bytes(own) {}
  explicit FakeMemory(std::span<std::byte> pages) : bytes(pages) {}
  Result<void> write(std::size_t offset, std::span<const std::byte> from) override {
    std::memcpy(bytes.data() + offset, from.data(), from.size());
    return {};
  }
  Result<void> read(std::size_t offset, std::span<std::byte> to) const override {
    std::memcpy(to.data(), bytes.data() + offset, to.size());
    return {};
  }
  std::vector<std::byte> own;
  std::span<std::byte> bytes;
};

// A kernel sees where its arguments begin.
using FakeKernel = std::function<void(std::vector<float*>)>;

struct FakeCall final : DeviceCall {
  std::vector<std::function<void()>> steps;
};

struct FakeApi final : DeviceApi {
  FakeKernel kernel;
  DeviceFacts said;

  const DeviceFacts& facts() const override { return said; }
  Step<std::string> build(DevicePackage&, const LaunchPlan&, bool) override { return std::string(); }
  Result<std::unique_ptr<DeviceMemory>> allocate(std::size_t bytes) override {
    return std::make_unique<FakeMemory>(bytes);
  }
  Result<std::unique_ptr<DeviceMemory>> allocate_on(std::span<std::byte> pages) override {
    return std::make_unique<FakeMemory>(pages);
  }
  Result<std::unique_ptr<DeviceCall>> record(const LaunchPlan& plan, const std::vector<PlanStep>& steps,
                                             const std::vector<PlacedMemory>& memory) override {
    auto call = std::make_unique<FakeCall>();
    auto data = [memory](std::size_t which) {
      return static_cast<FakeMemory*>(memory[which].memory)->bytes.data() + memory[which].offset;
    };
    for (const PlanStep& step : steps) {
      if (const auto* launch = std::get_if<PlanLaunch>(&step)) {
        std::vector<float*> arguments;
        for (const PlanArgument& argument : launch->arguments)
          arguments.push_back(reinterpret_cast<float*>(data(std::get<PlanUse>(argument).memory)));
        call->steps.emplace_back([this, arguments] { kernel(arguments); });
      } else if (const auto* fill = std::get_if<PlanFill>(&step)) {
        auto element = element_bytes(plan.memory[fill->memory].dtype, fill->value);
        call->steps.emplace_back([=, at = data(fill->memory), bytes = memory[fill->memory].bytes] {
          for (std::size_t i = 0; i < bytes; ++i) at[i] = element[i % element.size()];
        });
      }
    }
    return call;
  }
  Result<void> submit(DeviceCall& call) override {
    for (auto& step : static_cast<FakeCall&>(call).steps) step();
    return {};
  }
  Result<std::uint64_t> finish() override { return 7; }
};

struct FakeHost final : HostTensors {
  std::span<std::byte> data(std::size_t tensor, std::uint32_t slot) const override {
    return std::as_writable_bytes(std::span(values[tensor][slot]));
  }
  mutable float values[3][2][4] = {{{1, 2, 3, 4}, {5, 6, 7, 8}}, {{2, 2, 2, 2}}, {}};  // x, w, y
};

class DeviceRuns : public testing::Test {
 protected:
  void SetUp() override {
    setting_.tensors = {{"x", DType::kFloat32, 16, false, false},
                        {"w", DType::kFloat32, 16, true, false},
                        {"y", DType::kFloat32, 16, false, true}};
    auto plan = read_launch_plan(R"json({"buffers": {"kept": {"dtype": "float32", "shape": [4]},
                                                     "own": {"dtype": "float32", "shape": [4]}},
      "prepare": [{"fill": "kept", "value": 3}],
      "run": [{"kernel": "k", "grid": [1], "block": [1], "args": ["x", "w", "kept", "own", "y"]}]})json",
                                 setting_);
    ASSERT_TRUE(plan) << plan.error().log;
    plan_ = std::move(*plan);
  }

  // A call of each slot; what was broken, or "".
  std::string broken_by(FakeKernel kernel, std::vector<std::uint32_t> slots = {0}) {
    api_.kernel = std::move(kernel);
    DeviceRun run(api_, plan_, setting_, host_, 2);
    ShownCheck check({{"x", 16, false, false}, {"w", 16, true, false}, {"y", 16, false, true}},
                     std::vector<std::byte>(KFORGE_GUARD_BYTES, std::byte{0x5a}));
    run.set_guard(check.guard());
    EXPECT_TRUE(run.prepare());
    EXPECT_EQ(looked(run, check, {}), "");
    EXPECT_TRUE(run.upload(slots));
    for (const std::uint32_t slot : slots) check.note(0, slot, host_.data(0, slot));
    check.note(1, 0, host_.data(1, 0));
    EXPECT_EQ(run.call(slots).value_or(0), 7u);
    EXPECT_TRUE(run.download(slots));
    return looked(run, check, slots);
  }

  // As the parent does it, through a window in which not all fits at once.
  static std::string looked(DeviceRun& run, ShownCheck& check, const std::vector<std::uint32_t>& slots) {
    std::vector<std::byte> window(sizeof(KforgeShown) + KFORGE_GUARD_BYTES + 8);
    check.begin(slots.empty());
    bool from_start = true;
    for (Result<bool> more = true; more.value_or(false); from_start = false) {
      more = run.show(slots, from_start, window);
      if (!more) return more.error().message;
      if (auto broken = check.look(window)) return *broken;
    }
    return check.end(slots).value_or("");
  }

  FakeApi api_;
  FakeHost host_;
  PlanSetting setting_;
  LaunchPlan plan_;
};

TEST_F(DeviceRuns, EverySlotHasTensorsOfItsOwn) {
  auto scale = [](std::vector<float*> a) {
    for (int i = 0; i < 4; ++i) a[4][i] = a[0][i] * a[1][i] + a[2][i];
  };
  EXPECT_EQ(broken_by(scale, {0, 1}), "");
  EXPECT_EQ(host_.values[2][0][3], 11);
  EXPECT_EQ(host_.values[2][1][3], 19);
}

TEST_F(DeviceRuns, PrivateBuffersHoldNothingOfACallBefore) {
  std::vector<bool> empty;
  auto keeps = [&](std::vector<float*> a) {
    empty.push_back(std::isnan(a[3][0]));
    a[3][0] = 1;
  };
  broken_by(keeps, {0, 1});
  EXPECT_THAT(empty, testing::Each(true));
}

// Programs that are timed in turns: whatever buffers they have besides, and whichever slot was used first.
TEST_F(DeviceRuns, TensorsLieWhereThoseOfOtherProgramsLie) {
  std::vector<std::byte> pages(64 << 12);
  const auto addresses = [&](const char* text, const std::vector<std::uint32_t>& order) {
    const LaunchPlan plan = read_launch_plan(text, setting_).value();
    std::map<float, const float*> found;  // by the first value of x, which no two slots share
    api_.kernel = [&](const std::vector<float*>& args) {
      found[args[0][0]] = args[0], found[-args[0][0]] = args.back();
    };
    DeviceRun run(api_, plan, setting_, host_, 2);
    run.share(pages);
    EXPECT_TRUE(run.prepare());
    for (const std::uint32_t slot : order) {
      EXPECT_TRUE(run.upload(std::vector{slot}));
      EXPECT_TRUE(run.call(std::vector{slot}));
    }
    return found;
  };
  const auto plain =
      addresses(R"({"run": [{"kernel": "k", "grid": [1], "block": [1], "args": ["x", "w", "y"]}]})", {0, 1});
  const auto other = addresses(R"json({"buffers": {"kept": {"dtype": "float32", "shape": [4]},
                                                   "own": {"dtype": "float32", "shape": [4]}},
      "prepare": [{"fill": "kept", "value": 3}],
      "run": [{"kernel": "k", "grid": [1], "block": [1], "args": ["x", "w", "kept", "own", "y"]}]})json",
                               {1, 0});
  EXPECT_EQ(plain.size(), 4u);
  EXPECT_EQ(plain, other);
  for (const auto& [value, at] : plain) {
    EXPECT_GE(reinterpret_cast<const std::byte*>(at), pages.data());
    EXPECT_LT(reinterpret_cast<const std::byte*>(at), pages.data() + pages.size());
  }
}

TEST_F(DeviceRuns, WhatMayNotBeWrittenIsNamed) {
  EXPECT_THAT(broken_by([](std::vector<float*> a) { a[4][5] = 1; }), HasSubstr("5 bytes past the end of y"));
  EXPECT_THAT(broken_by([](std::vector<float*> a) { a[4][-1] = 1; }), HasSubstr("before the start of y"));
  EXPECT_THAT(broken_by([](std::vector<float*> a) { a[3][4] = 1; }), HasSubstr("past the end of own"));
  EXPECT_THAT(broken_by([](std::vector<float*> a) { a[0][2] += 1; }),
              HasSubstr("wrote to x, which is read-only"));
  EXPECT_THAT(broken_by([](std::vector<float*> a) { a[1][0] = 0; }), HasSubstr("wrote to w"));
  EXPECT_THAT(broken_by([](std::vector<float*> a) { a[2][0] = 0; }),
              HasSubstr("wrote to kept, which prepare made"));
}

TEST_F(DeviceRuns, TheParentMayChangeItsMemoryWhileACallRuns) {
  EXPECT_EQ(broken_by([&](const std::vector<float*>&) { host_.values[0][0][0] = 99; }), "");
}

}  // namespace
}  // namespace kforge
