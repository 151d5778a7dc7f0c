// A model behind HTTP: asks, reads the stream, retries what may pass, learns what the service does not take.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "llm/endpoint.h"
#include "llm/llm.h"

namespace kforge {

std::unique_ptr<ModelClient> make_http_model(Endpoint endpoint, const ModelSettings& settings);

// The names the service lists.
Result<std::vector<std::string>> list_models(const Endpoint& endpoint, double seconds);

}  // namespace kforge
