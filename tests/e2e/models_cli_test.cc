// kforge models as a user runs it, against services on the loopback interface; and what children get to see.
#include <nlohmann/json.hpp>

#include "cli/kforge_run.h"
#include "e2e/model_setting.h"

namespace kforge {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class ModelsCommand : public testing::Test {
 protected:
  RunOptions options(std::map<std::string, std::string> env = {}) {
    for (const char* name : {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY",
                             "OPENROUTER_API_KEY", "DEEPSEEK_API_KEY"})
      env.emplace(name, "");
    // Ports nobody listens on, whatever runs on this machine.
    env.emplace("OLLAMA_HOST", "127.0.0.1:9");
    return {.home = home_.path(), .cwd = kRoot, .env = env};
  }
  TempDir home_ = TempDir::create().value();
  ModelServer server_;
};

TEST_F(ModelsCommand, SaysWhatWorksAndWhatDoesNot) {
  server_.script("good", {say("ready")});
  server_.script("bad", {fault(ModelStep::Kind::kEchoKey)});
  server_.script("blind",
                 {error_status(400, R"({"error":{"message":"this model has no vision"}})"), say("ready")});
  Finished done = kforge_run(
      {"models", server_.openai("good"), server_.anthropic("bad"), server_.openai("blind"), "--json"},
      options({{"KFORGE_API_KEY", kTestKey}}));
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_THAT(done.out + done.err, Not(HasSubstr(kTestKey)));
  json document = json::parse(done.out, nullptr, false);
  ASSERT_EQ(document["schema"], "kforge.models/1") << done.out;
  ASSERT_EQ(document["models"].size(), 3u);
  EXPECT_EQ(document["models"][0]["works"], true);
  EXPECT_EQ(document["models"][0]["images"], true);
  EXPECT_EQ(document["models"][0]["key_from"], "KFORGE_API_KEY");
  EXPECT_EQ(document["models"][0]["served_as"], "good-2026");
  EXPECT_EQ(document["models"][1]["works"], false);
  EXPECT_THAT(std::string(document["models"][1]["remedy"]), HasSubstr("check the key in KFORGE_API_KEY"));
  EXPECT_EQ(document["models"][2]["works"], true);
  EXPECT_EQ(document["models"][2]["images"], false);
  bool png = false;
  for (const SeenCall& call : server_.calls())
    if (call.model == "good") png = call.turns[0].images.at(0).starts_with("\x89PNG\r\n\x1a\n");
  EXPECT_TRUE(png);
}

TEST_F(ModelsCommand, FindsWhatIsSetUp) {
  server_.script("gpt-5-mini", {say("ready")});
  server_.script("own", {say("ready")});
  ASSERT_TRUE(write_file_atomic(home_.path() / "config.toml",
                                "[endpoints.lab]\nurl = \"" + server_.url() + "\"\nmodel = \"own\"\n", 0600));
  Finished done =
      kforge_run({"models"}, options({{"OPENAI_API_KEY", kTestKey}, {"OPENAI_BASE_URL", server_.url()}}));
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("openai: (gpt-5-mini)"));
  EXPECT_THAT(done.out, HasSubstr("lab"));
  EXPECT_THAT(done.out, HasSubstr("free"));
  EXPECT_THAT(done.out, Not(HasSubstr(kTestKey)));
}

TEST_F(ModelsCommand, AnOpenConfigFileIsRefusedWithTheRemedy) {
  ASSERT_TRUE(
      write_file_atomic(home_.path() / "config.toml", "[keys]\nopenai = \"sk-file-key-1234567\"\n", 0644));
  Finished done = kforge_run({"models"}, options());
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("chmod 600"));
  EXPECT_THAT(done.err, Not(HasSubstr("sk-file-key")));
}

// A stand-in for Python that keeps what environment it is started with, while keys are set: it sees none, and
// neither does any file the evaluation leaves.
TEST_F(ModelsCommand, NoChildAndNoFileOfAnEvaluationSeesAKey) {
  fs::path python = home_.path() / "python3", seen = home_.path() / "seen";
  ASSERT_TRUE(write_file_atomic(
      python, "#!/bin/sh\nenv >> " + seen.string() + "\nexec /usr/bin/python3 \"$@\"\n", 0755));
  RunOptions run = options({{"OPENAI_API_KEY", kTestKey}, {"LAB_TOKEN", kTestKey}});
  run.home = shared_home();
  auto start = fs::file_time_type::clock::now();
  Finished done =
      kforge_run({"eval", "platforms/cpu/example", "-k", "platforms/cpu/example/kernel.cc", "--shapes",
                  "small", "--rounds", "1", "--baseline", "onnxruntime", "--python", python},
                 run);
  EXPECT_THAT(done.out + done.err, Not(HasSubstr(kTestKey)));
  std::string environment = read_file(seen).value_or("");
  EXPECT_THAT(environment, HasSubstr("PATH=")) << "the stand-in was started: " << done.err;
  EXPECT_THAT(environment, Not(HasSubstr(kTestKey)));
  for (const auto& entry : fs::recursive_directory_iterator(run.home)) {
    std::error_code gone;
    if (!entry.is_regular_file(gone) || entry.last_write_time(gone) < start || gone) continue;
    EXPECT_THAT(read_file(entry.path()).value_or(""), Not(HasSubstr(kTestKey))) << entry.path();
  }
}

}  // namespace
}  // namespace kforge
