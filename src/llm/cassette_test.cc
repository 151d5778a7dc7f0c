#include "llm/cassette.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/files.h"
#include "base/secrets.h"

namespace kforge {
namespace {

using testing::HasSubstr;
using testing::Not;

// Answers with what it is told to.
class Told : public ModelClient {
 public:
  explicit Told(std::vector<Result<ModelReply>> replies, std::string name = "told:you")
      : replies_(std::move(replies)), name_(std::move(name)) {}
  std::string name() const override { return name_; }
  bool accepts_images() const override { return true; }
  Result<ModelReply> ask(const ModelRequest&, const ReplyWatch&) override { return replies_.at(next_++); }

 private:
  std::vector<Result<ModelReply>> replies_;
  std::string name_;
  std::size_t next_ = 0;
};

ModelReply said(const std::string& text, ReplyEnd end = ReplyEnd::kComplete) {
  ModelReply reply;
  reply.text = text;
  reply.end = end;
  reply.usage.input = 10;
  reply.usage.output = 5;
  reply.usage.dollars = 0.25;
  reply.seconds = 1.5;
  reply.model = "m-1";
  return reply;
}

ModelRequest place(const std::string& role, int attempt, int ordinal, const std::string& text = "prompt") {
  ModelRequest request;
  request.role = role;
  request.attempt = attempt;
  request.ordinal = ordinal;
  request.messages.emplace_back().text = text;
  return request;
}

class CassetteTest : public testing::Test {
 protected:
  void record(std::vector<Result<ModelReply>> replies, const std::vector<ModelRequest>& requests) {
    auto model = make_recording_model(std::make_unique<Told>(std::move(replies)), file_);
    for (const ModelRequest& request : requests) (void)model->ask(request, {});
  }
  std::unique_ptr<ModelClient> replay() {
    auto model = open_model("replay:" + file_, {});
    EXPECT_TRUE(model) << (model ? "" : model.error().text());
    return model ? std::move(*model) : nullptr;
  }
  TempDir dir_ = TempDir::create().value();
  std::string file_ = dir_.path() / "run.jsonl";
};

TEST_F(CassetteTest, RepliesComeBackByRoleAttemptAndOrdinal) {
  record({said("a"), said("b"), said("c", ReplyEnd::kTruncated)},
         {place("generator", 0, 0), place("analyst", 0, 0), place("generator", 0, 1)});
  auto model = replay();
  EXPECT_EQ(model->ask(place("generator", 0, 1), {})->end, ReplyEnd::kTruncated);
  std::string streamed;
  ReplyWatch watch;
  watch.on_text = [&](std::string_view piece) { streamed += piece; };
  auto reply = model->ask(place("analyst", 0, 0), watch);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->text, "b");
  EXPECT_EQ(streamed, "b");
  EXPECT_EQ(reply->usage.input, 10);
  EXPECT_EQ(reply->usage.dollars, 0.25);
  EXPECT_EQ(reply->seconds, 1.5);
  EXPECT_EQ(reply->model, "m-1");
  EXPECT_FALSE(reply->drifted);
}

TEST_F(CassetteTest, FoldersOfTheMachineAreNotRecorded) {
  for (const char* name : {"mailbox:/home/me/box", "replay:/srv/old.jsonl", "https://llm.example.org/v1#m"}) {
    auto model =
        make_recording_model(std::make_unique<Told>(std::vector<Result<ModelReply>>{said("a")}, name), file_);
    ASSERT_TRUE(model->ask(place("generator", 0, 0), {}));
    EXPECT_EQ(model->name(), name);
  }
  std::string text = read_file(file_).value();
  EXPECT_THAT(text, HasSubstr("\"client\":\"mailbox\""));
  EXPECT_THAT(text, HasSubstr("\"client\":\"replay\""));
  EXPECT_THAT(text, HasSubstr("\"client\":\"https://llm.example.org/v1#m\""));  // an address, no folder
  EXPECT_THAT(text, Not(HasSubstr("/home/me")));
}

TEST_F(CassetteTest, TheSamePlaceTwiceGivesBothInOrder) {
  record({said("cut", ReplyEnd::kCut), said("whole")}, {place("generator", 1, 0), place("generator", 1, 0)});
  auto model = replay();
  EXPECT_EQ(model->ask(place("generator", 1, 0), {})->text, "cut");
  EXPECT_EQ(model->ask(place("generator", 1, 0), {})->text, "whole");
  auto over = model->ask(place("generator", 1, 0), {});
  ASSERT_FALSE(over);
  EXPECT_THAT(over.error().message, HasSubstr("no (further) reply for generator attempt 1 call 0"));
}

TEST_F(CassetteTest, DriftOfThePromptIsReported) {
  record({said("a")}, {place("generator", 0, 0, "old words")});
  auto model = replay();
  std::string notice;
  ReplyWatch watch;
  watch.on_notice = [&](std::string_view line) { notice = line; };
  auto reply = model->ask(place("generator", 0, 0, "new words"), watch);
  ASSERT_TRUE(reply);
  EXPECT_TRUE(reply->drifted);
  EXPECT_THAT(notice, HasSubstr("not the recorded one"));
}

TEST_F(CassetteTest, PicturesCountForDriftButAreNotKept) {
  ModelRequest request = place("analyst", 0, 0);
  request.messages[0].images.push_back({"image/png", "PICTUREBYTES"});
  record({said("a")}, {request});
  EXPECT_THAT(*read_file(file_), Not(HasSubstr("PICTUREBYTES")));
  EXPECT_FALSE(replay()->ask(request, {})->drifted);
  request.messages[0].images[0].bytes = "OTHER";
  EXPECT_TRUE(replay()->ask(request, {})->drifted);
}

TEST_F(CassetteTest, ErrorsAreRecordedToo) {
  record({std::unexpected(Error{"no key", "get one"})}, {place("generator", 0, 0)});
  auto reply = replay()->ask(place("generator", 0, 0), {});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message, "no key");
  EXPECT_EQ(reply.error().remedy, "get one");
}

TEST_F(CassetteTest, KeysAndBrokenBytesDoNotGetIn) {
  Secret key("cassette-secret-77");
  record({said("it is cassette-secret-77 \xff")}, {place("generator", 0, 0, "what is cassette-secret-77?")});
  std::string content = *read_file(file_);
  EXPECT_THAT(content, Not(HasSubstr("cassette-secret-77")));
  EXPECT_EQ(content.find('\xff'), std::string::npos);
  EXPECT_FALSE(replay()->ask(place("generator", 0, 0, "what is cassette-secret-77?"), {})->drifted);
}

TEST_F(CassetteTest, AHalfWrittenLastLineIsForgiven) {
  record({said("a"), said("b")}, {place("g", 0, 0), place("g", 1, 0)});
  std::string content = *read_file(file_);
  ASSERT_TRUE(write_file_atomic(file_, content.substr(0, content.size() - 30)));
  auto model = replay();
  EXPECT_EQ(model->ask(place("g", 0, 0), {})->text, "a");
  EXPECT_FALSE(model->ask(place("g", 1, 0), {}));
}

TEST_F(CassetteTest, WhatIsNoCassetteIsRefusedWithItsLine) {
  for (const char* bad :
       {"not json\n", "[]\n", "{\"schema\":\"kforge.cassette/99\"}\n",
        "{\"schema\":\"kforge.cassette/1\",\"attempt\":0,\"ordinal\":0}\n",
        "{\"schema\":\"kforge.cassette/1\",\"attempt\":0,\"ordinal\":0,\"reply\":{\"end\":\"x\"}}\n"}) {
    ASSERT_TRUE(write_file_atomic(file_, bad));
    auto model = open_model("replay:" + file_, {});
    ASSERT_FALSE(model) << bad;
    EXPECT_THAT(model.error().message, HasSubstr("run.jsonl:1:"));
  }
  EXPECT_FALSE(open_model("replay:/nowhere.jsonl", {}));
}

TEST_F(CassetteTest, LinesOfSeveralThreadsDoNotMix) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back(
        [&, i] { record({said(std::string(20'000, static_cast<char>('a' + i)))}, {place("g", i, 0)}); });
  for (std::thread& thread : threads) thread.join();
  auto model = replay();
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(model->ask(place("g", i, 0), {})->text, std::string(20'000, static_cast<char>('a' + i)));
}

TEST_F(CassetteTest, ACassetteThatCannotBeWrittenIsAnError) {
  auto model = make_recording_model(std::make_unique<Told>(std::vector<Result<ModelReply>>{said("a")}),
                                    "/nowhere/at/all.jsonl");
  EXPECT_FALSE(model->ask(place("g", 0, 0), {}));
}

}  // namespace
}  // namespace kforge
