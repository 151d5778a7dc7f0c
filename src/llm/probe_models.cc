#include "llm/probe_models.h"

#include <algorithm>
#include <set>

#include "llm/endpoint.h"
#include "llm/http_model.h"
#include "llm/text_safety.h"

namespace kforge {
namespace {

constexpr double kProbeSeconds = 10, kFindSeconds = 1.5;

// A red square of 64 x 64 as PNG: large enough for every service that has a least size.
constexpr unsigned char kPicture[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00,
    0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x40, 0x08, 0x02, 0x00, 0x00, 0x00, 0x25, 0x0b, 0xe6, 0x89, 0x00,
    0x00, 0x00, 0x4b, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0xed, 0xcf, 0x41, 0x09, 0x00, 0x00, 0x08, 0x00,
    0xb1, 0xeb, 0x5f, 0x5a, 0x23, 0xf8, 0x16, 0x06, 0x2b, 0xb0, 0xa6, 0x5e, 0x4b, 0x40, 0x40, 0x40, 0x40,
    0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40,
    0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40,
    0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0xe0, 0xb2, 0xa9, 0xdc, 0xf0, 0xe2, 0x60, 0xe8, 0xb9,
    0xf7, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
};

ModelRequest tiny_request() {
  ModelRequest request;
  request.system = "You are a connection test.";
  request.messages.emplace_back().text = "Reply with the one word: ready";
  request.messages.back().images.push_back({"image/png", {std::begin(kPicture), std::end(kPicture)}});
  request.max_output_tokens = 2000;  // models that think need some room for it
  request.role = "probe";
  return request;
}

// The model to try where only the service is named: one we know if it is served, else the first.
Result<std::string> model_to_try(const Endpoint& endpoint, const ModelConfig& config, std::size_t& served) {
  KF_TRY(std::vector<std::string> names, list_models(endpoint, kProbeSeconds));
  served = names.size();
  if (const Provider* provider = config.provider(endpoint.provider))
    for (const std::string& known : provider->try_models)
      for (const std::string& name : names)
        if (name == known || name.ends_with("/" + known)) return name;
  if (names.empty()) return fail("{} serves no model", endpoint.provider);
  return names.front();
}

void call_once(const Endpoint& endpoint, const ModelSettings& settings, ModelProbe& probe) {
  ModelSettings patient = settings;
  patient.retries = std::min(settings.retries, 1);
  patient.idle_seconds = std::min(settings.idle_seconds, 60.0);
  patient.longest_wait_seconds = 10;
  auto model = make_http_model(endpoint, patient);
  auto reply = model->ask(tiny_request(), {});
  if (!reply) {
    probe.problem = reply.error();
    return;
  }
  probe.seconds = reply->seconds;
  probe.served_as = reply->model;
  probe.dollars = reply->usage.dollars;
  probe.end = name_of(reply->end);
  // Whatever it said, or was about to say: the way there and back works.
  probe.works = reply->end == ReplyEnd::kComplete || reply->end == ReplyEnd::kTruncated ||
                reply->end == ReplyEnd::kEmpty;
  if (probe.works) probe.images = model->accepts_images();
  if (!probe.works) probe.problem = {"the tiny call ended as " + probe.end + ": " + reply->detail, ""};
}

// Mailboxes and cassettes: nothing is asked, nobody should have to answer a test.
ModelProbe probe_without_call(const std::string& spec, const ModelSettings& settings) {
  ModelProbe probe;
  probe.spec = spec;
  auto model = open_model(spec, settings);
  probe.works = model.has_value();
  if (!model) probe.problem = model.error();
  if (model) probe.images = (*model)->accepts_images();
  return probe;
}

}  // namespace

std::vector<std::string> configured_models(const ModelConfig& config) {
  std::vector<std::string> specs = config.models;
  for (const auto& [name, endpoint] : config.endpoints) specs.push_back(name);
  for (const Provider& provider : config.providers) {
    auto endpoint = resolve_endpoint(provider.name + ":", config);
    if (!endpoint) continue;  // no key
    // A local service counts when it is running.
    if (endpoint->local && !list_models(*endpoint, kFindSeconds)) continue;
    bool named = std::ranges::any_of(
        specs, [&](const std::string& spec) { return spec.starts_with(provider.name + ":"); });
    if (!named) specs.push_back(provider.name + ":");
  }
  std::set<std::string> seen;
  std::erase_if(specs, [&](const std::string& spec) { return !seen.insert(spec).second; });
  return specs;
}

ModelProbe probe_model(const std::string& spec, const ModelConfig& config, const ModelSettings& settings) {
  if (spec.starts_with("mailbox:") || spec.starts_with("replay:")) return probe_without_call(spec, settings);
  ModelProbe probe;
  probe.spec = without_secrets(spec);
  auto endpoint = resolve_endpoint(spec, config);
  if (!endpoint) {
    probe.problem = endpoint.error();
    return probe;
  }
  probe.url = endpoint->url;
  probe.key_from = endpoint->key_from;
  probe.local = endpoint->local;
  if (endpoint->model.empty()) {
    auto name = model_to_try(*endpoint, config, probe.served);
    if (!name) {
      probe.problem = name.error();
      return probe;
    }
    endpoint->model = *name;
    if (!endpoint->local) endpoint->price = price_of(*name, config.prices);
  }
  probe.model = endpoint->model;
  probe.price_known = endpoint->price.has_value();
  call_once(*endpoint, settings, probe);
  return probe;
}

}  // namespace kforge
