#include "llm/mailbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "base/files.h"

namespace kforge {
namespace {

using testing::HasSubstr;

class MailboxTest : public testing::Test {
 protected:
  MailboxTest() {
    settings_.mailbox_poll_seconds = 0.05;
    settings_.mailbox_seconds = 60;
    settings_.run = "run1";
  }
  std::unique_ptr<ModelClient> open(const std::string& run = "run1") {
    ModelSettings settings = settings_;
    settings.run = run;
    auto model = open_model("mailbox:" + folder().string(), settings);
    EXPECT_TRUE(model) << (model ? "" : model.error().text());
    return std::move(*model);
  }
  fs::path folder() const { return dir_.path() / "letters"; }
  bool there(const std::string& name) const { return fs::exists(folder() / name); }
  std::string content(const std::string& name) const { return read_file(folder() / name).value_or(""); }
  void answer(const std::string& stem, const std::string& text) {
    fs::create_directories(folder());
    ASSERT_TRUE(write_file_atomic(folder() / (stem + ".reply.md"), text));
  }
  static ModelRequest request(const std::string& text = "Write a kernel.", int attempt = 1) {
    ModelRequest request;
    request.system = "You write kernels.";
    request.messages.emplace_back().text = text;
    request.role = "generator";
    request.attempt = attempt;
    return request;
  }
  // Waits for the prompt as a person would, then answers.
  std::thread person(const std::string& stem, const std::string& reply) {
    return std::thread([this, stem, reply] {
      while (!there(stem + ".prompt.md")) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      answer(stem, reply);
    });
  }
  TempDir dir_ = TempDir::create().value();
  ModelSettings settings_;
};

TEST_F(MailboxTest, APromptIsReadableAndItsReplyIsTaken) {
  auto model = open();
  std::thread somebody = person("generator-1-0", "Here you are.\n");
  ModelRequest asked = request();
  asked.messages[0].images.push_back({"image/png", "\x89PNG"});
  std::string notice;
  ReplyWatch watch;
  watch.on_notice = [&](std::string_view line) { notice = line; };
  auto reply = model->ask(asked, watch);
  somebody.join();
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->end, ReplyEnd::kComplete);
  EXPECT_EQ(reply->text, "Here you are.\n");
  EXPECT_TRUE(reply->usage.estimated);
  EXPECT_FALSE(reply->usage.dollars);
  std::string prompt = content("generator-1-0.prompt.md");
  for (const char* part : {"generator, attempt 1", "generator-1-0.reply.md", "You write kernels.",
                           "Write a kernel.", "generator-1-0.picture1.png"})
    EXPECT_THAT(prompt, HasSubstr(part));
  EXPECT_EQ(content("generator-1-0.picture1.png"), "\x89PNG");
  EXPECT_THAT(notice, HasSubstr("generator-1-0.reply.md"));
}

TEST_F(MailboxTest, ATimeoutInTheSpecEndsTheWait) {
  auto model = open_model("mailbox:" + folder().string() + "?timeout=0.05", settings_);
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ((*model)->name(), "mailbox:" + folder().string());
  auto reply = (*model)->ask(request(), {});
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("generator-1-0.reply.md"));
  EXPECT_THAT(reply.error().remedy, HasSubstr("resume"));
  EXPECT_TRUE(there("generator-1-0.prompt.md")) << "the question stays for whoever answers later";
}

TEST_F(MailboxTest, AnOptionThatIsNoneIsRefused) {
  for (const char* option : {"?timeout=soon", "?timeout=", "?timeout=-1", "?timeout=1s", "?patience=3"}) {
    auto model = open_model("mailbox:" + folder().string() + option, settings_);
    ASSERT_FALSE(model) << option;
    EXPECT_THAT(model.error().remedy, HasSubstr("timeout=SECONDS")) << option;
  }
  EXPECT_FALSE(open_model("mailbox:?timeout=3", settings_)) << "no folder";
}

TEST_F(MailboxTest, AReplyThatIsStillBeingWrittenIsWaitedFor) {
  settings_.mailbox_poll_seconds = 0.5;
  auto model = open();
  std::thread writer([this] {
    while (!there("generator-1-0.prompt.md")) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::ofstream file(folder() / "generator-1-0.reply.md");
    for (int i = 0; i < 20; ++i) {
      file << "line " << i << "\n" << std::flush;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  auto reply = model->ask(request(), {});
  writer.join();
  ASSERT_TRUE(reply);
  EXPECT_THAT(reply->text, HasSubstr("line 19"));
}

TEST_F(MailboxTest, AnotherRunDoesNotTakeOldReplies) {
  std::thread somebody = person("generator-1-0", "for run one");
  EXPECT_EQ(open("run1")->ask(request(), {})->text, "for run one");
  somebody.join();
  std::thread again = person("run2-generator-1-0", "for run two");
  EXPECT_EQ(open("run2")->ask(request(), {})->text, "for run two");
  again.join();
  EXPECT_EQ(content("generator-1-0.reply.md"), "for run one");
}

TEST_F(MailboxTest, AResumedRunFindsTheReplyGivenWhileItWasAway) {
  {
    std::stop_source stop;
    ReplyWatch watch;
    watch.stop = stop.get_token();
    watch.on_notice = [&](std::string_view) { stop.request_stop(); };
    EXPECT_EQ(open()->ask(request(), watch)->end, ReplyEnd::kCancelled);
  }
  answer("generator-1-0", "meanwhile");
  EXPECT_EQ(open()->ask(request(), {})->text, "meanwhile");
}

TEST_F(MailboxTest, AReplyToAnotherQuestionIsPutAside) {
  std::thread somebody = person("generator-1-0", "old");
  EXPECT_EQ(open()->ask(request("old question"), {})->text, "old");
  somebody.join();
  auto model = open();  // resumed, but the prompt has changed
  std::thread again([this] {
    while (content("generator-1-0.prompt.md").find("new question") == std::string::npos)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    answer("generator-1-0", "new");
  });
  EXPECT_EQ(model->ask(request("new question"), {})->text, "new");
  again.join();
  EXPECT_EQ(content("generator-1-0.reply.old.md"), "old");
}

TEST_F(MailboxTest, ASecondQuestionAtTheSamePlaceHasItsOwnName) {
  auto model = open();
  std::thread first = person("generator-1-0", "one");
  EXPECT_EQ(model->ask(request(), {})->text, "one");
  first.join();
  std::thread second = person("generator-1-0-again2", "two");
  EXPECT_EQ(model->ask(request(), {})->text, "two");
  second.join();
}

TEST_F(MailboxTest, CancellingEndsTheWaitAndATimeOutIsAnError) {
  std::stop_source stop;
  ReplyWatch watch;
  watch.stop = stop.get_token();
  auto model = open();
  std::thread stopper([&] {
    while (!there("generator-1-0.prompt.md")) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    stop.request_stop();
  });
  EXPECT_EQ(model->ask(request(), watch)->end, ReplyEnd::kCancelled);
  stopper.join();
  settings_.mailbox_seconds = 0.1;
  auto late = open()->ask(request("x", 9), {});
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().message, HasSubstr("generator-9-0.reply.md"));
}

TEST_F(MailboxTest, HostileRepliesAndRolesDoNoHarm) {
  auto model = open();
  ModelRequest asked = request();
  asked.role = "../../etc/x";
  std::thread somebody = person("______etc_x-1-0", "\xff\xfe binary \0 bytes");
  auto reply = model->ask(asked, {});
  somebody.join();
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->text.find('\xff'), std::string::npos);
  fs::create_directories(folder() / "generator-2-0.reply.md");  // a folder is no reply
  settings_.mailbox_seconds = 0.2;
  EXPECT_FALSE(open()->ask(request("x", 2), {}));
  answer("generator-3-0", "  \n");
  ASSERT_TRUE(write_file_atomic(folder() / "generator-3-0.prompt.md",
                                mailbox_prompt(request("x", 3), "generator-3-0.reply.md", {})));
  EXPECT_EQ(open()->ask(request("x", 3), {})->end, ReplyEnd::kEmpty);
  std::ofstream(folder() / "generator-4-0.reply.md") << std::string(9u << 20, 'x');
  ASSERT_TRUE(write_file_atomic(folder() / "generator-4-0.prompt.md",
                                mailbox_prompt(request("x", 4), "generator-4-0.reply.md", {})));
  EXPECT_FALSE(open()->ask(request("x", 4), {})) << "9 MB are no reply";
}

}  // namespace
}  // namespace kforge
