#include "llm/endpoint.h"

#include <arpa/inet.h>
#include <curl/curl.h>

#include "base/nearest.h"

namespace kforge {
namespace {

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

std::string part_of(CURLU* url, CURLUPart what) {
  char* text = nullptr;
  if (curl_url_get(url, what, &text, 0) != CURLUE_OK) return "";
  std::string copy = text;
  curl_free(text);
  return copy;
}

// OLLAMA_HOST and the like may be "host:port", or the address a server listens on.
std::string completed(std::string url) {
  if (url.find("://") == std::string::npos) url = "http://" + url;
  if (std::size_t any = url.find("://0.0.0.0"); any != std::string::npos)
    url.replace(any + 3, 7, "127.0.0.1");
  url = without_slash(url);
  auto parts = split_url(url);
  return parts && (parts->path.empty() || parts->path == "/") ? url + "/v1" : url;
}

void take_key(Endpoint& endpoint, const std::vector<std::string>& variables, const Secret* from_file) {
  for (const std::string& variable : variables) {
    if (auto value = environment_value(variable)) {
      endpoint.key = Secret(*value);
      endpoint.key_from = variable;
      return;
    }
  }
  if (!from_file || from_file->empty()) return;
  endpoint.key = *from_file;
  endpoint.key_from = "config.toml";
}

const Secret* key_in_file(const ModelConfig& config, const std::string& provider) {
  auto it = config.keys.find(provider);
  return it == config.keys.end() ? nullptr : &it->second;
}

// What holds for every endpoint, however it was named.
Result<Endpoint> finished(Endpoint endpoint, const ModelConfig& config) {
  auto parts = split_url(endpoint.url);
  if (!parts)
    return fail_with_remedy("a base URL looks like http://127.0.0.1:8080/v1",
                            fmt::format("'{}' is no http or https URL", without_secrets(endpoint.url)));
  if (parts->has_user)
    return fail_with_remedy("put the key into a variable or config.toml (docs/models.md)",
                            fmt::format("the URL of {} holds a user name or password", parts->host));
  endpoint.local = is_local_host(parts->host);
  // Azure's own doors take the key under another name.
  if (endpoint.key_header.empty() &&
      (parts->host.ends_with(".openai.azure.com") || parts->host.ends_with(".cognitiveservices.azure.com")))
    endpoint.key_header = "api-key";
  if (parts->scheme == "http" && !endpoint.local && !endpoint.key.empty())
    return fail_with_remedy("use https",
                            fmt::format("the key for {} would travel unprotected over http", parts->host));
  endpoint.price = price_of(endpoint.model, config.prices);
  if (endpoint.local) endpoint.price = Price{};
  return endpoint;
}

Result<Endpoint> of_provider(const Provider& provider, std::string model, const ModelConfig& config) {
  Endpoint endpoint;
  endpoint.name = provider.name + ":" + model;
  endpoint.provider = provider.name;
  endpoint.protocol = provider.protocol;
  endpoint.model = std::move(model);
  endpoint.token_field = provider.token_field;
  endpoint.images = provider.images;
  endpoint.url = without_slash(provider.url);
  if (auto url = environment_value(provider.url_env))
    endpoint.url = provider.protocol == Protocol::kOpenAi ? completed(*url) : without_slash(*url);
  take_key(endpoint, provider.key_env, key_in_file(config, provider.name));
  auto parts = split_url(endpoint.url);
  bool needs_key = !provider.key_env.empty() && parts && !is_local_host(parts->host);
  if (needs_key && endpoint.key.empty())
    return fail_with_remedy(fmt::format("export {}=..., or write {} = \"...\" under [keys] in {} (mode 0600)",
                                        provider.key_env[0], provider.name, config.file),
                            fmt::format("there is no key for {}", provider.name));
  return finished(std::move(endpoint), config);
}

Result<Endpoint> of_own(const std::string& name, const OwnEndpoint& own, std::string model,
                        const ModelConfig& config) {
  Endpoint endpoint;
  endpoint.name = model.empty() ? name : name + ":" + model;
  endpoint.provider = name;
  endpoint.protocol = own.protocol;
  endpoint.url = own.protocol == Protocol::kOpenAi ? completed(own.url) : without_slash(own.url);
  endpoint.model = model.empty() ? own.model : std::move(model);
  endpoint.effort = own.effort;
  endpoint.key_header = own.key_header;
  endpoint.images = own.images;
  endpoint.max_output_tokens = own.max_output_tokens;
  endpoint.concurrent = own.concurrent;
  take_key(endpoint, {own.key_env}, &own.key);
  if (!own.key_env.empty() && endpoint.key.empty())
    return fail_with_remedy(fmt::format("export {}=...", own.key_env),
                            fmt::format("the variable with the key of endpoint {} is not set", name));
  return finished(std::move(endpoint), config);
}

// A URL of a provider we know takes that provider's key; no other URL ever gets it.
Result<Endpoint> of_url(std::string_view spec, const ModelConfig& config) {
  Endpoint endpoint;
  endpoint.name = without_secrets(std::string(spec));
  if (spec.starts_with("anthropic+")) {
    endpoint.protocol = Protocol::kAnthropic;
    spec.remove_prefix(10);
  }
  std::size_t hash = spec.find('#');
  if (hash != std::string_view::npos) endpoint.model = spec.substr(hash + 1);
  endpoint.url = std::string(spec.substr(0, hash));
  endpoint.url =
      endpoint.protocol == Protocol::kOpenAi ? completed(endpoint.url) : without_slash(endpoint.url);
  auto parts = split_url(endpoint.url);
  if (!parts) return finished(std::move(endpoint), config);
  endpoint.provider = parts->host;
  for (const Provider& provider : config.providers) {
    auto known = split_url(provider.url);
    if (!known || known->host != parts->host || is_local_host(known->host)) continue;
    endpoint.token_field = provider.token_field;
    endpoint.images = provider.images;
    take_key(endpoint, provider.key_env, key_in_file(config, provider.name));
  }
  if (endpoint.key.empty()) take_key(endpoint, {"KFORGE_API_KEY"}, nullptr);
  return finished(std::move(endpoint), config);
}

}  // namespace

std::optional<UrlParts> split_url(const std::string& url) {
  CURLU* handle = curl_url();
  if (!handle) return std::nullopt;
  std::optional<UrlParts> parts;
  if (curl_url_set(handle, CURLUPART_URL, url.c_str(), 0) == CURLUE_OK) {
    parts.emplace();
    parts->scheme = part_of(handle, CURLUPART_SCHEME);
    parts->host = part_of(handle, CURLUPART_HOST);
    parts->path = part_of(handle, CURLUPART_PATH);
    parts->port = part_of(handle, CURLUPART_PORT);
    parts->has_user =
        !part_of(handle, CURLUPART_USER).empty() || !part_of(handle, CURLUPART_PASSWORD).empty();
  }
  curl_url_cleanup(handle);
  if (parts && parts->scheme != "http" && parts->scheme != "https") return std::nullopt;
  return parts;
}

bool is_local_host(const std::string& host) {
  in_addr v4{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) {
    std::uint32_t address = ntohl(v4.s_addr);
    return address >> 24 == 127 || address >> 24 == 10 || address >> 20 == 0xAC1 || address >> 16 == 0xC0A8 ||
           address >> 16 == 0xA9FE;
  }
  if (host.starts_with('[')) return host == "[::1]" || host.starts_with("[fd") || host.starts_with("[fe80");
  return host == "localhost" || host.ends_with(".local") || host.ends_with(".localhost") ||
         host.find('.') == std::string::npos;
}

Result<Endpoint> resolve_endpoint(std::string_view spec, const ModelConfig& config) {
  if (spec.starts_with("http://") || spec.starts_with("https://") || spec.starts_with("anthropic+http"))
    return of_url(spec, config);
  std::size_t colon = spec.find(':');
  std::string name(spec.substr(0, colon));
  std::string model(colon == std::string_view::npos ? "" : spec.substr(colon + 1));
  if (auto own = config.endpoints.find(name); own != config.endpoints.end())
    return of_own(name, own->second, model, config);
  if (const Provider* provider = config.provider(name)) return of_provider(*provider, model, config);
  std::vector<std::string> known{"mailbox", "replay", "builtin"};
  for (const Provider& provider : config.providers) known.push_back(provider.name);
  for (const auto& [own, ignored] : config.endpoints) known.push_back(own);
  return fail_with_remedy(
      "a model is PROVIDER:NAME (openai, anthropic, gemini, openrouter, ollama, ...), a URL such as "
      "http://127.0.0.1:8080/v1#NAME, mailbox:DIR or replay:FILE (docs/models.md)",
      fmt::format("'{}' names no model{}", without_secrets(std::string(spec)), did_you_mean(name, known)));
}

}  // namespace kforge
