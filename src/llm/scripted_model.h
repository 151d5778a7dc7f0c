// For tests: a model that plays given replies and remembers what it was asked.
#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "llm/llm.h"

namespace kforge {

class ScriptedModel : public ModelClient {
 public:
  explicit ScriptedModel(std::vector<ModelReply> replies, bool images = true)
      : replies_(replies.begin(), replies.end()), images_(images) {}
  static ModelReply says(std::string text, ReplyEnd end = ReplyEnd::kComplete) {
    ModelReply reply;
    reply.text = std::move(text);
    reply.end = end;
    reply.usage = {.input = 100, .output = 10, .dollars = 0.01};
    reply.model = "scripted-1";
    return reply;
  }

  std::string name() const override { return "scripted"; }
  bool accepts_images() const override { return images_; }
  Result<ModelReply> ask(const ModelRequest& request, const ReplyWatch&) override {
    std::lock_guard lock(mutex_);
    requests.push_back(request);
    if (replies_.empty()) return fail("the scripted model has no more replies");
    ModelReply reply = std::move(replies_.front());
    replies_.pop_front();
    return reply;
  }

  std::vector<ModelRequest> requests;

 private:
  std::mutex mutex_;
  std::deque<ModelReply> replies_;
  bool images_;
};

}  // namespace kforge
