// Does a model answer? One tiny call with a small picture, and what it tells: reached, key accepted, pictures
// taken.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "llm/config.h"
#include "llm/llm.h"

namespace kforge {

struct ModelProbe {
  std::string spec;
  std::string url, model, key_from;
  bool local = false;
  bool works = false;
  Error problem;  // when it does not work
  std::string end;
  double seconds = 0;
  std::string served_as;   // the service's name for the model
  std::size_t served = 0;  // models the service lists, where that was asked
  std::optional<bool> images;
  bool price_known = false;
  std::optional<double> dollars;  // of the tiny call
};

// Specs of what is set up: `models` and [endpoints] of config.toml, providers that have a key, local services
// that run. A provider without a named model is "openai:".
std::vector<std::string> configured_models(const ModelConfig& config);

ModelProbe probe_model(const std::string& spec, const ModelConfig& config, const ModelSettings& settings);

}  // namespace kforge
