// The style sheets, the script and the icon: a fixed list, read from pages/. No path of an address reaches
// the disk.
#pragma once

#include "serve/asked.h"

namespace kforge::serve {

Answer static_file(const Asked& asked);

}  // namespace kforge::serve
