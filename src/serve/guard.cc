#include "serve/guard.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/random_seed.h"
#include "base/text.h"
#include "plot/markup.h"

namespace kforge::serve {
namespace {

// The same time whatever differs.
bool same_secret(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i] ^ (b.empty() ? '\0' : b[i % b.size()]));
  return difference == 0;
}

bool is_address(std::string_view text) {
  in6_addr ignored{};
  const std::string address(text);
  return ::inet_pton(AF_INET, address.c_str(), &ignored) == 1 ||
         ::inet_pton(AF_INET6, address.c_str(), &ignored) == 1;
}

// "[::1]:80" to "::1" and "80"; a host without a port has none.
std::pair<std::string, std::string> split_host(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == host.npos) return {};
    std::string_view rest = host.substr(end + 1);
    if (!rest.empty() && !rest.starts_with(':')) return {};
    return {std::string(host.substr(1, end - 1)), std::string(rest.empty() ? rest : rest.substr(1))};
  }
  const std::size_t colon = host.find(':');
  return {std::string(host.substr(0, colon)),
          std::string(colon == host.npos ? std::string_view() : host.substr(colon + 1))};
}

std::string cookie_value(std::string_view cookies, std::string_view name) {
  for (const std::string& part : parts_of(cookies, ';')) {
    std::string_view one = trimmed(part);
    if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=')
      return std::string(one.substr(name.size() + 1));
  }
  return "";
}

bool changes(const Asked& asked) { return asked.method != "GET"; }

}  // namespace

std::string new_token() { return fmt::format("{:016x}{:016x}", random_seed(), random_seed()); }

bool is_loopback(std::string_view address) {
  if (address == "localhost" || address == "::1") return true;
  return is_address(address) && address.starts_with("127.");
}

Answer refusal(const Asked& asked, int status, std::string_view message, std::string_view remedy) {
  Answer answer{.status = status};
  if (asked.json || asked.header("accept").starts_with("application/json")) {
    answer.type = "application/json";
    answer.body =
        nlohmann::ordered_json{{"schema", "kforge.error/1"}, {"error", message}, {"remedy", remedy}}.dump(
            2, ' ', false, nlohmann::json::error_handler_t::replace) +
        "\n";
    return answer;
  }
  answer.body = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\" /><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\" /><title>{0}: KForge</title><link rel=\"stylesheet\" "
      "href=\"/static/style.css\" /></head><body><main><h1>{0}</h1><p>{1}</p><p><a href=\"/\">All "
      "pages</a></p></main></body></html>\n",
      escaped(message), escaped(remedy));
  return answer;
}

std::string Guard::origin() const {
  const bool v6 = settings_.address.find(':') != std::string::npos;
  std::string host = settings_.address;
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "::") host = "::1";
  return fmt::format("http://{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", settings_.port);
}

bool Guard::is_token(std::string_view text) const { return same_secret(text, settings_.token); }

// Browsers keep cookies by name and host, not by port: two servers of one machine need two names.
std::string Guard::cookie_name() const { return fmt::format("kforge_{}", settings_.port); }

std::string Guard::cookie() const {
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", cookie_name(), settings_.token);
}

std::string Guard::csrf() const { return sha256_hex("kforge form " + settings_.token).substr(0, 32); }

// An address as a number cannot be given to another machine by a name server; of names only our own count.
bool Guard::host_is_ours(std::string_view host) const {
  const auto [name, port] = split_host(host);
  if (port != std::to_string(settings_.port) && !(port.empty() && settings_.port == 80)) return false;
  const std::string lower = lower_case(name);
  if (lower == "localhost") return true;
  if (is_loopback(settings_.address)) return is_loopback(lower);
  return is_address(lower) || lower == lower_case(settings_.address);
}

std::optional<Answer> Guard::refuse_foreign(const Asked& asked, Access access) const {
  const std::string host = asked.header("host");
  if (!host_is_ours(host))
    return refusal(asked, 421, "This server does not answer to that name",
                   fmt::format("Open {} instead.", origin()));
  const std::string from = asked.header("origin");
  if (!from.empty() && from != "http://" + host)
    return refusal(asked, 403, "Another site asked for this", "Pages of this server alone may.");
  // What browsers say of a request by themselves; others do not say it.
  const std::string site = asked.header("sec-fetch-site");
  const bool elsewhere = site == "cross-site" || site == "same-site";
  if (elsewhere && access != Access::kAnyone &&
      (changes(asked) || asked.header("sec-fetch-mode") != "navigate"))
    return refusal(asked, 403, "Another site asked for this", "Pages of this server alone may.");
  return std::nullopt;
}

std::optional<Answer> Guard::refuse(Asked& asked, Access access) const {
  if (auto foreign = refuse_foreign(asked, access)) return foreign;
  const std::string authorization = asked.header("authorization");
  const bool bearer = authorization.starts_with("Bearer ") && is_token(authorization.substr(7));
  const bool cookie = is_token(cookie_value(asked.header("cookie"), cookie_name()));
  asked.knows_token = bearer || cookie;
  asked.read_only = settings_.read_only;
  if (asked.knows_token) asked.csrf = csrf();
  if (access == Access::kAnyone) return std::nullopt;
  if (access == Access::kRead) {
    if (asked.knows_token || is_loopback(settings_.address)) return std::nullopt;
    return refusal(asked, 401, "This server asks who you are",
                   "Open the link with the token that kforge serve printed when it was started.");
  }
  if (settings_.read_only)
    return refusal(asked, 403, "This server only shows", "It was started with --read-only.");
  if (!asked.knows_token)
    return refusal(asked, 401, "This needs the token",
                   "Open the link that kforge serve printed when it was started, then try again.");
  // A browser sends the cookie by itself, whoever made the form; the word in the form only our pages know.
  if (!bearer && !same_secret(asked.field("csrf"), csrf()) &&
      !same_secret(asked.header("x-kforge-csrf"), csrf()))
    return refusal(asked, 403, "The form was not made by this server",
                   "Load its page again, and send it anew.");
  return std::nullopt;
}

}  // namespace kforge::serve
