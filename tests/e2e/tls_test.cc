// Services behind TLS: whom KForge trusts, and what it says when it does not.
#include <httplib.h>

#include <atomic>
#include <thread>

#include "base/subprocess.h"
#include "e2e/model_setting.h"

namespace kforge {
namespace {

using testing::HasSubstr;

constexpr const char* kTlsReply =
    R"({"choices":[{"index":0,"message":{"role":"assistant","content":"over TLS"},"finish_reason":"stop"}]})";

class Tls : public ModelTest {
 protected:
  void SetUp() override {
    auto made = run_command({.argv = {"openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days",
                                      "2", "-keyout", key(), "-out", certificate(), "-subj",
                                      "/CN=kforge test", "-addext", "subjectAltName=IP:127.0.0.1"}});
    if (!made || !made->ok()) GTEST_SKIP() << "openssl makes no certificate here";
    server_ = std::make_unique<httplib::SSLServer>(certificate().c_str(), key().c_str());
    server_->Post("/v1/chat/completions", [this](const httplib::Request&, httplib::Response& response) {
      ++served_;
      response.set_content(kTlsReply, "application/json");
    });
    port_ = server_->bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_->listen_after_bind(); });
    while (!server_->is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void TearDown() override {
    if (server_) server_->stop();
    if (thread_.joinable()) thread_.join();
  }
  std::string certificate() const { return (home_.path() / "cert.pem").string(); }
  std::string key() const { return (home_.path() / "key.pem").string(); }
  std::string spec() const { return "https://127.0.0.1:" + std::to_string(port_) + "/v1#m"; }

  std::unique_ptr<httplib::SSLServer> server_;
  std::thread thread_;
  int port_ = 0;
  std::atomic<int> served_ = 0;
};

TEST_F(Tls, AnUnknownCertificateIsRefusedWithARemedy) {
  auto reply = ask(spec());
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("certificate"));
  EXPECT_THAT(reply.error().remedy, HasSubstr("SSL_CERT_FILE"));
}

TEST_F(Tls, ARootOfOnesOwnIsNamedByTheEnvironment) {
  environment_.set("SSL_CERT_FILE", certificate());
  auto reply = ask(spec());
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->text, "over TLS");
}

TEST_F(Tls, ACertificateOfAnotherHostIsRefusedAtOnce) {
  environment_.set("SSL_CERT_FILE", certificate());
  // The certificate is for 127.0.0.1 alone.
  auto reply = ask("https://localhost:" + std::to_string(port_) + "/v1#m");
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("localhost"));
  EXPECT_THAT(reply.error().remedy, HasSubstr("certificate"));
  EXPECT_EQ(served_, 0) << "the request, with its key, was not sent";
}

TEST_F(Tls, RootsThatCannotBeReadAreNamed) {
  environment_.set("SSL_CERT_FILE", (home_.path() / "nowhere.pem").string());
  auto reply = ask(spec());
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().remedy, HasSubstr("SSL_CERT_FILE"));
  EXPECT_EQ(served_, 0);
}

TEST_F(Tls, AServerWithoutTlsIsNamedAsSuch) {
  ModelServer plain;
  std::string url = plain.url();
  auto reply = ask("https" + url.substr(4) + "/v1#m");
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().remedy, HasSubstr("http:// instead of https://"));
}

}  // namespace
}  // namespace kforge
