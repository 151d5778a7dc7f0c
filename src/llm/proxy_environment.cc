#include "llm/proxy_environment.h"

#include <algorithm>

#include "llm/config.h"
#include "llm/endpoint.h"

namespace kforge {
namespace {

// "a.example, .b.example" or "*".
bool is_listed(std::string_view list, std::string_view host) {
  while (!list.empty()) {
    std::size_t end = std::min(list.find_first_of(", "), list.size());
    std::string_view name = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    if (name == "*") return true;
    if (name.starts_with('.')) name.remove_prefix(1);
    if (name.empty() || !host.ends_with(name)) continue;
    if (host.size() == name.size() || host[host.size() - name.size() - 1] == '.') return true;
  }
  return false;
}

}  // namespace

std::string proxy_variable(const std::string& url) {
  auto parts = split_url(url);
  if (!parts || is_local_host(parts->host)) return "";
  for (const char* name : {"no_proxy", "NO_PROXY"})
    if (auto list = environment_value(name)) {
      if (is_listed(*list, parts->host)) return "";
      break;
    }
  // HTTP_PROXY is left out as libcurl leaves it out: a web server sets it from a header of its caller.
  bool secure = parts->scheme == "https";
  for (const char* name :
       {secure ? "https_proxy" : "http_proxy", secure ? "HTTPS_PROXY" : "", "all_proxy", "ALL_PROXY"})
    if (*name && environment_value(name)) return name;
  return "";
}

}  // namespace kforge
