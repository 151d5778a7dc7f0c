#include "forge/remembering_model.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

class CountingModel final : public ModelClient {
 public:
  std::string name() const override { return "fake:m"; }
  bool accepts_images() const override { return false; }
  Result<ModelReply> ask(const ModelRequest& request, const ReplyWatch&) override {
    ++asked;
    if (fails) return fail("no service");
    ModelReply reply;
    reply.text =
        fmt::format("reply {} to {}", asked, request.messages.empty() ? "" : request.messages[0].text);
    reply.end = end;
    reply.usage.output = 7;
    reply.usage.dollars = 0.5;
    return reply;
  }
  int asked = 0;
  bool fails = false;
  ReplyEnd end = ReplyEnd::kComplete;
};

class RememberingModelTest : public testing::Test {
 protected:
  void SetUp() override {
    StoredRun run;
    run.id = "r";
    ASSERT_TRUE(records_->begin(run));
  }
  ModelRequest request(int attempt, int ordinal = 0) {
    ModelRequest request;
    request.role = "generator";
    request.attempt = attempt;
    request.ordinal = ordinal;
    request.messages.push_back({Message::From::kUser, "please", {}});
    return request;
  }

  TempDir folder_ = *TempDir::create();
  std::unique_ptr<RunRecords> records_ = *RunRecords::open(folder_.path());
  CountingModel model_;
  RememberingModel remembering_{model_, *records_, "r"};
};

TEST_F(RememberingModelTest, AsksOnceForEachKey) {
  auto first = remembering_.ask(request(1), {});
  ASSERT_TRUE(first);
  RememberingModel later(model_, *records_, "r");
  auto again = later.ask(request(1), {});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->text, first->text);
  EXPECT_EQ(again->usage.output, 7);
  EXPECT_EQ(again->usage.dollars, 0.5);
  EXPECT_EQ(model_.asked, 1);
  ASSERT_TRUE(later.ask(request(1, 1), {}));
  ASSERT_TRUE(later.ask(request(2), {}));
  EXPECT_EQ(model_.asked, 3);
}

TEST_F(RememberingModelTest, HowAReplyEndedIsRemembered) {
  for (ReplyEnd end : {ReplyEnd::kTruncated, ReplyEnd::kRefused, ReplyEnd::kContextOverflow, ReplyEnd::kEmpty,
                       ReplyEnd::kCut, ReplyEnd::kGarbage}) {
    model_.end = end;
    int attempt = 10 + static_cast<int>(end);
    ASSERT_TRUE(remembering_.ask(request(attempt), {}));
    EXPECT_EQ(remembering_.ask(request(attempt), {})->end, end);
  }
}

TEST_F(RememberingModelTest, ServiceThatFailedIsAskedAgain) {
  model_.fails = true;
  EXPECT_FALSE(remembering_.ask(request(1), {}));
  model_.fails = false;
  EXPECT_TRUE(remembering_.ask(request(1), {}));
  EXPECT_EQ(model_.asked, 2);
  auto calls = *records_->calls("r");
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].state, CallState::kFailed);
  EXPECT_EQ(calls[1].state, CallState::kReceived);
}

TEST_F(RememberingModelTest, CancelledCallIsLostAndAskedAgain) {
  model_.end = ReplyEnd::kCancelled;
  ASSERT_TRUE(remembering_.ask(request(1), {}));
  model_.end = ReplyEnd::kComplete;
  ASSERT_TRUE(remembering_.ask(request(1), {}));
  EXPECT_EQ(model_.asked, 2);
  EXPECT_EQ(records_->calls("r")->at(0).state, CallState::kLost);
}

}  // namespace
}  // namespace kforge
