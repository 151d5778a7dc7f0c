// Where a model is reached and how it is spoken to: what a spec such as "openai:NAME" stands for, once
// providers.toml, config.toml and the environment have been looked at.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secrets.h"
#include "llm/config.h"
#include "llm/prices.h"

namespace kforge {

struct Endpoint {
  std::string name;      // the spec, without secrets
  std::string provider;  // "openai", or the host
  Protocol protocol = Protocol::kOpenAi;
  std::string url;    // base, no slash at the end
  std::string model;  // may be empty: whatever the service serves
  Secret key;
  std::string key_from;    // "OPENAI_API_KEY", "config.toml", "" when there is none
  std::string key_header;  // header that carries the key; empty: the protocol's usual one
  std::string token_field = "max_tokens";
  std::string effort;         // of thinking, as the service calls it; empty: its default
  bool images = true;         // false: known not to take them
  bool local = false;         // this machine or its own network: costs nothing
  int max_output_tokens = 0;  // the most the model gives; 0: unknown
  int concurrent = 0;         // calls at once; 0: no limit of ours
  std::optional<Price> price;
};

// What a spec names. An Error says what is missing and how to give it.
Result<Endpoint> resolve_endpoint(std::string_view spec, const ModelConfig& config);

struct UrlParts {
  std::string scheme, host, path, port;
  bool has_user = false;
};
// Nothing when it is no http or https URL.
std::optional<UrlParts> split_url(const std::string& url);
// Loopback, a private network, or a name without a dot or under .local.
bool is_local_host(const std::string& host);

}  // namespace kforge
