// Memory functions, and no more.
#pragma once

#include <stddef.h>

#include "kforge/libm.h"

namespace std {
using ::memcpy, ::memmove, ::memset;
}  // namespace std
