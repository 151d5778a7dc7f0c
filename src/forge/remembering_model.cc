#include "forge/remembering_model.h"

namespace kforge {
namespace {

// The prompt as people read it later. Keys travel in headers, never here.
std::string transcript(const ModelRequest& request) {
  std::string text = "# system\n" + request.system;
  for (const Message& message : request.messages) {
    text += message.from == Message::From::kUser ? "\n\n# user\n" : "\n\n# assistant\n";
    text += message.text;
    for (const Image& image : message.images)
      text += fmt::format("\n[{} of {} bytes]", image.media_type, image.bytes.size());
  }
  return text;
}

ModelReply reply_of(const StoredCall& call) {
  ModelReply reply;
  reply.text = call.reply;
  reply.end = call.ended;
  reply.detail = call.detail;
  reply.usage = {call.input_tokens,  call.cache_read_tokens, call.cache_write_tokens,
                 call.output_tokens, call.dollars,           call.estimated};
  reply.seconds = call.seconds;
  reply.tries = call.tries;
  reply.model = call.model;
  return reply;
}

void fill(StoredCall& call, const ModelReply& reply) {
  // A reply we stopped ourselves is not one that was received.
  call.state = reply.end == ReplyEnd::kCancelled ? CallState::kLost : CallState::kReceived;
  call.ended = reply.end;
  call.detail = reply.drifted && reply.detail.empty() ? std::string(kOtherPrompt) : reply.detail;
  call.reply = reply.text;
  call.input_tokens = reply.usage.input;
  call.cache_read_tokens = reply.usage.cache_read;
  call.cache_write_tokens = reply.usage.cache_write;
  call.output_tokens = reply.usage.output;
  call.estimated = reply.usage.estimated;
  call.dollars = reply.usage.dollars;
  call.seconds = reply.seconds;
  call.tries = reply.tries;
}

}  // namespace

Result<ModelReply> RememberingModel::ask(const ModelRequest& request, const ReplyWatch& watch) {
  CallKey key{request.role, request.attempt, request.ordinal};
  // Another model's reply, from before its service failed, is no answer of this one.
  KF_TRY(auto before, records_->received(run_, key, name()));
  if (before) return reply_of(*before);
  StoredCall call;
  call.key = key;
  call.model = name();
  KF_TRY(call.take, records_->begin_call(run_, key, call.model, transcript(request)));
  auto reply = model_->ask(request, watch);
  if (reply) {
    fill(call, *reply);
  } else {
    call.state = CallState::kFailed;
    call.detail = reply.error().message;
  }
  KF_TRY_VOID(records_->end_call(run_, call));
  return reply;
}

}  // namespace kforge
