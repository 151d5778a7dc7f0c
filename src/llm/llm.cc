#include "llm/llm.h"

#include "llm/cassette.h"
#include "llm/config.h"
#include "llm/endpoint.h"
#include "llm/http_model.h"
#include "llm/mailbox.h"

namespace kforge {
namespace {

constexpr double kListSeconds = 15;

// A service that serves one model needs no name for it.
Result<void> find_name(Endpoint& endpoint) {
  if (!endpoint.model.empty()) return {};
  KF_TRY(std::vector<std::string> names, list_models(endpoint, kListSeconds));
  if (names.size() == 1) {
    endpoint.model = names[0];
    return {};
  }
  std::string list;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 20); ++i)
    list += (list.empty() ? "" : ", ") + names[i];
  return fail_with_remedy(
      names.empty() ? "name the model" : "name one of: " + list,
      fmt::format("{} names no model, and the service has {}", endpoint.name, names.size()));
}

Result<std::unique_ptr<ModelClient>> open_unrecorded(std::string_view spec, const ModelSettings& settings) {
  if (spec.starts_with("mailbox:")) return open_mailbox_model(std::string(spec.substr(8)), settings);
  if (spec.starts_with("replay:")) return open_replay_model(std::string(spec.substr(7)));
  KF_TRY(ModelConfig config, load_model_config(settings.config_file));
  KF_TRY(Endpoint endpoint, resolve_endpoint(spec, config));
  KF_TRY_VOID(find_name(endpoint));
  if (!endpoint.price && !endpoint.local) endpoint.price = price_of(endpoint.model, config.prices);
  return make_http_model(std::move(endpoint), settings);
}

}  // namespace

std::string_view name_of(ReplyEnd end) {
  switch (end) {
    case ReplyEnd::kComplete:
      return "complete";
    case ReplyEnd::kTruncated:
      return "truncated";
    case ReplyEnd::kRefused:
      return "refused";
    case ReplyEnd::kContextOverflow:
      return "context_overflow";
    case ReplyEnd::kEmpty:
      return "empty";
    case ReplyEnd::kCut:
      return "cut";
    case ReplyEnd::kGarbage:
      return "garbage";
    case ReplyEnd::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

Remedy remedy_of(ReplyEnd end) {
  switch (end) {
    case ReplyEnd::kComplete:
      return Remedy::kUse;
    case ReplyEnd::kTruncated:
      return Remedy::kContinue;
    case ReplyEnd::kRefused:
      return Remedy::kFallBack;
    case ReplyEnd::kContextOverflow:
      return Remedy::kShrinkHistory;
    case ReplyEnd::kEmpty:
    case ReplyEnd::kCut:
    case ReplyEnd::kGarbage:
      return Remedy::kAskAgain;
    case ReplyEnd::kCancelled:
      return Remedy::kStop;
  }
  return Remedy::kStop;
}

std::string_view name_of(Remedy remedy) {
  switch (remedy) {
    case Remedy::kUse:
      return "use";
    case Remedy::kContinue:
      return "continue";
    case Remedy::kShrinkHistory:
      return "shrink_history";
    case Remedy::kAskAgain:
      return "ask_again";
    case Remedy::kFallBack:
      return "fall_back";
    case Remedy::kStop:
      return "stop";
  }
  return "stop";
}

std::vector<std::string> split_specs(std::string_view text) {
  std::vector<std::string> specs;
  while (!text.empty()) {
    std::size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) specs.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(text.size(), comma + 1));
  }
  return specs;
}

bool is_builtin(std::string_view spec) { return spec == "builtin"; }

Result<std::unique_ptr<ModelClient>> open_model(std::string_view spec, const ModelSettings& settings) {
  KF_TRY(std::unique_ptr<ModelClient> model, open_unrecorded(spec, settings));
  bool replayed = spec.starts_with("replay:");
  if (settings.record_to.empty() || replayed) return model;
  return make_recording_model(std::move(model), settings.record_to);
}

}  // namespace kforge
