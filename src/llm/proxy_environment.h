// Which variable of the environment sends a request through a proxy. libcurl obeys these by itself; KForge
// wants to name the one at fault when the way to a service fails, and never its value: that may hold a
// password.
#pragma once

#include <string>

namespace kforge {

// "https_proxy"; empty: the request goes straight to its host.
std::string proxy_variable(const std::string& url);

}  // namespace kforge
