#include "llm/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "base/files.h"
#include "llm/llm.h"

namespace kforge {
namespace {

using testing::HasSubstr;

class EndpointTest : public testing::Test {
 protected:
  EndpointTest() {
    set("KFORGE_HOME", home_.path());
    for (const char* name : {"OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL",
                             "GEMINI_API_KEY", "GOOGLE_API_KEY", "OLLAMA_HOST", "KFORGE_API_KEY"})
      ::unsetenv(name);
  }
  ~EndpointTest() override {
    for (const std::string& name : set_) ::unsetenv(name.c_str());
  }
  void set(const std::string& name, const std::string& value) {
    ::setenv(name.c_str(), value.c_str(), 1);
    set_.push_back(name);
  }
  void write_config(const std::string& text, int mode = 0600) {
    ASSERT_TRUE(write_file_atomic(home_.path() / "config.toml", text, mode));
  }
  Result<Endpoint> resolve(const std::string& spec) {
    auto config = load_model_config("");
    if (!config) return std::unexpected(config.error());
    return resolve_endpoint(spec, *config);
  }
  std::string error_of(const std::string& spec) {
    auto endpoint = resolve(spec);
    return endpoint ? "" : endpoint.error().text();
  }
  TempDir home_ = TempDir::create().value();
  std::vector<std::string> set_;
};

TEST_F(EndpointTest, ProvidersHaveTheirAddressAndKey) {
  set("OPENAI_API_KEY", "openai-secret-1");
  auto openai = resolve("openai:gpt-5.2");
  ASSERT_TRUE(openai) << openai.error().text();
  EXPECT_EQ(openai->url, "https://api.openai.com/v1");
  EXPECT_EQ(openai->key.reveal(), "openai-secret-1");
  EXPECT_EQ(openai->key_from, "OPENAI_API_KEY");
  EXPECT_EQ(openai->token_field, "max_completion_tokens");
  ASSERT_TRUE(openai->price);
  EXPECT_FALSE(openai->local);
  set("GOOGLE_API_KEY", "google-secret-1");
  EXPECT_EQ(resolve("gemini:gemini-2.5-pro")->key_from, "GOOGLE_API_KEY");
  set("OPENROUTER_API_KEY", "router-secret-1");
  EXPECT_EQ(resolve("openrouter:x/y:free")->model, "x/y:free");
}

TEST_F(EndpointTest, AMissingKeyTeachesWhereItGoes) {
  std::string error = error_of("openai:gpt-5.2");
  EXPECT_THAT(error, HasSubstr("no key for openai"));
  EXPECT_THAT(error, HasSubstr("OPENAI_API_KEY"));
  EXPECT_THAT(error, HasSubstr("config.toml"));
  set("OPENAI_API_KEY", "");
  EXPECT_FALSE(error_of("openai:gpt-5.2").empty()) << "an empty variable counts as unset";
}

TEST_F(EndpointTest, LocalServicesNeedNoKeyAndCostNothing) {
  auto ollama = resolve("ollama:qwen3:8b");
  ASSERT_TRUE(ollama) << ollama.error().text();
  EXPECT_EQ(ollama->url, "http://127.0.0.1:11434/v1");
  EXPECT_EQ(ollama->model, "qwen3:8b");
  EXPECT_TRUE(ollama->local);
  TokenUsage usage;
  usage.input = usage.output = 1'000'000;
  EXPECT_EQ(dollars_for(usage, *ollama->price), 0);
  set("OLLAMA_HOST", "0.0.0.0:9999");
  EXPECT_EQ(resolve("ollama:x")->url, "http://127.0.0.1:9999/v1");
}

TEST_F(EndpointTest, AddressesAreTakenAsPeopleWriteThem) {
  EXPECT_EQ(resolve("http://127.0.0.1:8080/v1#m")->url, "http://127.0.0.1:8080/v1");
  EXPECT_EQ(resolve("http://127.0.0.1:8080/v1/#m")->url, "http://127.0.0.1:8080/v1");
  EXPECT_EQ(resolve("http://127.0.0.1:8080#m")->url, "http://127.0.0.1:8080/v1");
  EXPECT_EQ(resolve("http://127.0.0.1:8080/#m")->url, "http://127.0.0.1:8080/v1");
  EXPECT_EQ(resolve("http://[::1]:8080/api#org/m")->model, "org/m");
  EXPECT_EQ(resolve("anthropic+http://127.0.0.1:1#m")->protocol, Protocol::kAnthropic);
}

TEST_F(EndpointTest, AKeyGoesOnlyWhereItBelongs) {
  set("OPENAI_API_KEY", "openai-secret-2");
  EXPECT_EQ(resolve("https://api.openai.com/v1#gpt-5.2")->key_from, "OPENAI_API_KEY");
  EXPECT_TRUE(resolve("https://evil.example/v1#gpt-5.2")->key.empty());
  EXPECT_TRUE(resolve("https://api.openai.com.evil.example/v1#gpt-5.2")->key.empty());
  EXPECT_TRUE(resolve("http://127.0.0.1:8080/v1#m")->key.empty());
  set("KFORGE_API_KEY", "own-secret-2");
  EXPECT_EQ(resolve("https://llm.example/v1#m")->key_from, "KFORGE_API_KEY");
  EXPECT_THAT(error_of("http://llm.example/v1#m"), HasSubstr("use https"));
  EXPECT_THAT(error_of("https://user:pass@llm.example/v1#m"), HasSubstr("user name or password"));
}

TEST_F(EndpointTest, TheConfigFileGivesKeysEndpointsAndPrices) {
  write_config(R"(
models = ["lab"]
[keys]
openai = "file-secret-1"
[endpoints.lab]
url = "https://lab.example/v1"
model = "qwen"
key = "lab-secret-1"
images = false
max_output_tokens = 8000
[[price]]
models = ["qwen*"]
input = 1
output = 2
)");
  auto lab = resolve("lab");
  ASSERT_TRUE(lab) << lab.error().text();
  EXPECT_EQ(lab->model, "qwen");
  EXPECT_EQ(lab->key.reveal(), "lab-secret-1");
  EXPECT_FALSE(lab->images);
  EXPECT_EQ(lab->max_output_tokens, 8000);
  ASSERT_TRUE(lab->price);
  EXPECT_EQ(lab->price->output, 2);
  EXPECT_EQ(resolve("lab:other")->model, "other");
  EXPECT_EQ(resolve("openai:x")->key.reveal(), "file-secret-1");
  EXPECT_FALSE(resolve("openai:x")->price) << "an unknown price is none";
  set("OPENAI_API_KEY", "env-secret-1");
  EXPECT_EQ(resolve("openai:x")->key.reveal(), "env-secret-1") << "the environment comes first";
}

TEST_F(EndpointTest, AConfigFileThatOthersCanReadIsRefused) {
  for (int mode : {0644, 0640, 0660, 0602}) {
    write_config("[keys]\nopenai = \"file-secret-2\"\n", mode);
    ::chmod((home_.path() / "config.toml").c_str(), static_cast<mode_t>(mode));
    std::string error = error_of("openai:x");
    EXPECT_THAT(error, HasSubstr("chmod 600")) << mode;
    EXPECT_THAT(error, testing::Not(HasSubstr("file-secret")));
  }
}

TEST_F(EndpointTest, MistakesInTheConfigFileAreNamed) {
  write_config("[keys]\nopenia = \"x\"\n");
  EXPECT_THAT(error_of("ollama:x"), HasSubstr("config.toml:2: unknown key 'keys.openia'"));
  write_config("[endpoints.lab]\nmodel = \"x\"\n");
  EXPECT_THAT(error_of("lab"), HasSubstr("'endpoints.lab.url' is missing"));
  write_config("keys = [\n");
  EXPECT_THAT(error_of("lab"), HasSubstr("config.toml:"));
  auto missing = load_model_config("/nowhere/config.toml");
  EXPECT_FALSE(missing);
}

TEST_F(EndpointTest, AMisspeltProviderIsRecognised) {
  std::string error = error_of("opnai:gpt");
  EXPECT_THAT(error, HasSubstr("openai"));
  EXPECT_THAT(error, HasSubstr("mailbox:DIR"));
  EXPECT_FALSE(error_of("").empty());
  EXPECT_FALSE(error_of("ftp://host/v1#m").empty());
  EXPECT_FALSE(error_of("http://#m").empty());
}

TEST(LocalHost, IsWhatCannotBeTheWorld) {
  for (const char* local : {"127.0.0.1", "127.9.9.9", "localhost", "10.1.2.3", "192.168.0.9", "172.16.0.1",
                            "172.31.255.1", "[::1]", "box", "box.local"})
    EXPECT_TRUE(is_local_host(local)) << local;
  for (const char* remote :
       {"8.8.8.8", "172.32.0.1", "example.com", "localhost.example.com", "[2001:db8::1]"})
    EXPECT_FALSE(is_local_host(remote)) << remote;
}

TEST(Prices, UnknownIsNothingAndTiersEnd) {
  auto prices = read_prices(R"(
[[price]]
models = ["big-*", "exact"]
input = 2
cached = 0.5
cache_write = 3
output = 10
up_to = 2000000
)",
                            "test.toml");
  ASSERT_TRUE(prices) << prices.error().text();
  EXPECT_FALSE(price_of("small", *prices));
  EXPECT_FALSE(price_of("exact-pro", *prices));
  auto price = price_of("big-1", *prices);
  ASSERT_TRUE(price);
  TokenUsage usage;
  usage.input = 1'000'000;
  usage.cache_read = 400'000;
  usage.cache_write = 100'000;
  usage.output = 200'000;
  EXPECT_DOUBLE_EQ(*dollars_for(usage, *price), 0.5 * 2 + 0.4 * 0.5 + 0.1 * 3 + 0.2 * 10);
  usage.input = 2'000'001;
  EXPECT_FALSE(dollars_for(usage, *price));
  EXPECT_FALSE(read_prices("[[price]]\nmodels = [\"x\"]\ninput = 1\n", "t")) << "output is missing";
  EXPECT_FALSE(read_prices("[[price]]\nmodels = [\"x\"]\ninput = -1\noutput = 1\n", "t"));
}

TEST(Prices, TheShippedTablesAreRead) {
  auto config = load_model_config("");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_TRUE(price_of("claude-opus-4-8", config->prices));
  EXPECT_TRUE(price_of("gpt-5.2-2025-12-11", config->prices));
  EXPECT_FALSE(price_of("gpt-5.2-pro", config->prices)) << "another model, another price";
}

TEST_F(EndpointTest, AzureTakesItsKeyUnderItsOwnName) {
  set("KFORGE_API_KEY", "azure-secret-1");
  auto azure =
      resolve("https://me.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=1#gpt");
  ASSERT_TRUE(azure) << azure.error().text();
  EXPECT_EQ(azure->key_header, "api-key");
  EXPECT_EQ(azure->model, "gpt");
  EXPECT_EQ(resolve("https://llm.example.org/v1#x")->key_header, "");
  write_config("[endpoints.lab]\nurl = \"https://llm.example.org\"\nkey_header = \"x: y\"\n");
  EXPECT_THAT(error_of("lab"), HasSubstr("key_header"));
}

}  // namespace
}  // namespace kforge
