// Who may ask for what. Pages on a machine's own address can be reached by every page that its user's browser
// shows: by a name that a stranger's server suddenly gives this address (DNS rebinding), by forms and
// requests from other sites. So the name asked for must be this server's, the asking page must be this
// server's own, and what changes anything needs a secret that only the one who started the server was told.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "serve/router.h"

namespace kforge::serve {

struct GuardSettings {
  std::string address = "127.0.0.1";  // --address, as it was given
  int port = 0;
  bool read_only = false;
  std::string token;  // from new_token()
};

// 128 bits from the kernel's random source, as 32 characters.
std::string new_token();

class Guard {
 public:
  explicit Guard(GuardSettings settings) : settings_(std::move(settings)) {}

  // Fills in `knows_token` and `csrf`. An Answer: the request goes no further.
  std::optional<Answer> refuse(Asked& asked, Access access) const;

  bool read_only() const { return settings_.read_only; }
  // "http://127.0.0.1:8080"
  std::string origin() const;
  std::string login_link() const { return origin() + "/login?token=" + settings_.token; }
  bool is_token(std::string_view text) const;
  // "Set-Cookie" for whoever came by the login link.
  std::string cookie() const;

 private:
  bool host_is_ours(std::string_view host) const;
  std::optional<Answer> refuse_foreign(const Asked& asked, Access access) const;
  std::string cookie_name() const;
  std::string csrf() const;

  GuardSettings settings_;
};

// "127.0.0.1", "::1", "localhost": reached from this machine alone.
bool is_loopback(std::string_view address);

// A refusal in words, as a page or as kforge.error/1.
Answer refusal(const Asked& asked, int status, std::string_view message, std::string_view remedy = "");

}  // namespace kforge::serve
