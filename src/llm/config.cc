#include "llm/config.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

#include "base/files.h"
#include "base/toml_section.h"
#include "llm/price_table.h"

namespace kforge {
namespace {

constexpr std::size_t kFileLimit = 1 << 20;
const char* const kDescribed = "docs/models.md describes config.toml";

Protocol read_protocol(TomlSection& row) {
  return row.one_of("protocol", {"openai", "anthropic"}, "openai") == "openai" ? Protocol::kOpenAi
                                                                               : Protocol::kAnthropic;
}

Result<std::vector<Provider>> load_providers(const fs::path& file) {
  KF_TRY(std::string text, read_file(file, kFileLimit));
  KF_TRY(toml::table table, parse_toml(text, file.string()));
  TomlMistakes mistakes(file.string(), "the comment at the top of the file lists the keys");
  TomlSection top(table, "", mistakes);
  std::vector<Provider> providers;
  for (TomlSection& row : top.sections("provider")) {
    Provider provider;
    provider.name = row.text("name", true);
    provider.protocol = read_protocol(row);
    provider.url = row.text("url", true);
    provider.url_env = row.text("url_env");
    provider.key_env = row.texts("key_env");
    if (std::string field = row.text("token_field"); !field.empty()) provider.token_field = field;
    provider.images = row.flag("images", true);
    provider.try_models = row.texts("try");
    row.finish();
    providers.push_back(std::move(provider));
  }
  top.finish();
  if (mistakes.first()) return std::unexpected(*mistakes.first());
  return providers;
}

// A file with keys that others can read is refused, whoever wrote it.
Result<void> check_permissions(const std::string& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0 || (info.st_mode & 077) == 0) return {};
  return fail_with_remedy(
      fmt::format("chmod 600 {}", file),
      fmt::format("{} may hold keys, but others than you can read or change it (mode {:04o})", file,
                  info.st_mode & 07777));
}

OwnEndpoint read_endpoint(TomlSection row) {
  OwnEndpoint endpoint;
  endpoint.protocol = read_protocol(row);
  endpoint.url = row.text("url", true);
  endpoint.model = row.text("model");
  if (std::string key = row.text("key"); !key.empty()) endpoint.key = Secret(key);
  endpoint.key_env = row.text("key_env");
  endpoint.key_header = row.text("key_header");
  if (endpoint.key_header.find_first_of(": \r\n") != std::string::npos)
    row.mistake("key_header", "'key_header' is the name of a header, such as \"api-key\"");
  endpoint.effort = row.text("effort");
  endpoint.images = row.flag("images", true);
  endpoint.max_output_tokens = static_cast<int>(row.number("max_output_tokens", 0, 0, 1e7));
  endpoint.concurrent = static_cast<int>(row.number("concurrent", 0, 0, 10'000));
  row.finish();
  return endpoint;
}

Result<void> read_config(const std::string& file, ModelConfig& config) {
  KF_TRY_VOID(check_permissions(file));
  KF_TRY(std::string text, read_file(file, kFileLimit));
  KF_TRY(toml::table table, parse_toml(text, file));
  TomlMistakes mistakes(file, kDescribed);
  TomlSection top(table, "", mistakes);
  TomlSection keys = top.section("keys");
  for (const std::string& provider : keys.keys()) {
    if (!config.provider(provider)) continue;  // finish() reports it
    std::string key = keys.text(provider);
    if (!key.empty()) config.keys[provider] = Secret(key);
  }
  keys.finish();
  TomlSection endpoints = top.section("endpoints");
  for (const std::string& name : endpoints.keys())
    config.endpoints[name] = read_endpoint(endpoints.section(name));
  config.models = top.texts("models");
  std::vector<Price> prices = prices_in(top);
  config.prices.insert(config.prices.begin(), prices.begin(), prices.end());
  top.finish();
  if (mistakes.first()) return std::unexpected(*mistakes.first());
  return {};
}

}  // namespace

const Provider* ModelConfig::provider(std::string_view name) const {
  auto it = std::ranges::find(providers, name, &Provider::name);
  return it == providers.end() ? nullptr : &*it;
}

std::optional<std::string> environment_value(const std::string& name) {
  const char* value = name.empty() ? nullptr : std::getenv(name.c_str());
  if (!value || !*value) return std::nullopt;
  return value;
}

Result<ModelConfig> load_model_config(const std::string& config_file) {
  ModelConfig config;
  KF_TRY(fs::path root, data_root());
  KF_TRY(config.providers, load_providers(root / "models" / "providers.toml"));
  fs::path price_file = root / "models" / "prices.toml";
  KF_TRY(std::string prices, read_file(price_file, kFileLimit));
  KF_TRY(config.prices, read_prices(prices, price_file.string()));
  config.file = config_file;
  if (config_file.empty()) {
    KF_TRY(fs::path home, kforge_home());
    config.file = (home / "config.toml").string();
    std::error_code ignored;
    if (!fs::exists(config.file, ignored)) return config;
  }
  KF_TRY_VOID(read_config(config.file, config));
  return config;
}

}  // namespace kforge
