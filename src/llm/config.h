// What KForge knows about model services before one is asked: models/providers.toml (shipped) and config.toml
// (the user's, with keys, mode 0600).
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/secrets.h"
#include "llm/prices.h"

namespace kforge {

enum class Protocol : std::uint8_t { kOpenAi, kAnthropic };

struct Provider {
  std::string name;
  Protocol protocol = Protocol::kOpenAi;
  std::string url, url_env;
  std::vector<std::string> key_env;
  std::string token_field = "max_tokens";
  bool images = true;
  std::vector<std::string> try_models;
};

// [endpoints.NAME] of config.toml: a service of the user's own, used by its name.
struct OwnEndpoint {
  Protocol protocol = Protocol::kOpenAi;
  std::string url, model;
  Secret key;
  std::string key_env, key_header;
  std::string effort;
  bool images = true;
  int max_output_tokens = 0;
  int concurrent = 0;
};

struct ModelConfig {
  std::string file;  // config.toml, there or not
  std::vector<Provider> providers;
  std::map<std::string, Secret> keys;  // by provider
  std::map<std::string, OwnEndpoint> endpoints;
  std::vector<std::string> models;  // specs `kforge models` tries
  std::vector<Price> prices;        // the user's first

  const Provider* provider(std::string_view name) const;
};

// `config_file` empty: config.toml in kforge_home(), and it is no mistake when it is not there.
Result<ModelConfig> load_model_config(const std::string& config_file);

// A variable that is set and not empty.
std::optional<std::string> environment_value(const std::string& name);

}  // namespace kforge
