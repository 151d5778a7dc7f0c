// All pages of the site on a server. Each handler is a function from what is asked to the answer; it opens
// the store for itself, so that any number of them work at once.
#pragma once

#include "serve/server.h"

namespace kforge::serve {

void mount_site(Server& server);

Answer results_page(const Asked& asked);
Answer result_page(const Asked& asked);
Answer runs_page(const Asked& asked);
Answer run_page(const Asked& asked);

}  // namespace kforge::serve
