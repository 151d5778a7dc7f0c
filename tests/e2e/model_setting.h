// A model server, a home of the test's own and settings that make retries quick.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "base/files.h"
#include "e2e/model_server.h"
#include "llm/llm.h"

namespace kforge {

inline constexpr const char* kTestKey = "sk-test-0123456789abcdef";

// Sets variables for one test and takes them back.
class TestEnvironment {
 public:
  void set(const std::string& name, const std::string& value) {
    ::setenv(name.c_str(), value.c_str(), 1);
    names_.push_back(name);
  }
  ~TestEnvironment() {
    for (const std::string& name : names_) ::unsetenv(name.c_str());
  }

 private:
  std::vector<std::string> names_;
};

class ModelTest : public testing::Test {
 protected:
  ModelTest() {
    environment_.set("KFORGE_HOME", home_.path() / "home");
    environment_.set("KFORGE_API_KEY", kTestKey);
    settings_.retry_base_seconds = 0.02;
    settings_.idle_seconds = 20;
  }

  static ModelRequest request(const std::string& text = "Say hello.") {
    ModelRequest request;
    request.system = "You are terse.";
    request.messages.emplace_back().text = text;
    request.role = "generator";
    return request;
  }

  std::unique_ptr<ModelClient> open(const std::string& spec) {
    auto model = open_model(spec, settings_);
    EXPECT_TRUE(model) << (model ? "" : model.error().text());
    return model ? std::move(*model) : nullptr;
  }

  Result<ModelReply> ask(const std::string& spec, const ModelRequest& request = ModelTest::request()) {
    auto model = open(spec);
    if (!model) return fail("not opened");
    return model->ask(request, {});
  }

  TempDir home_ = TempDir::create().value();
  TestEnvironment environment_;
  ModelSettings settings_;
};

}  // namespace kforge
