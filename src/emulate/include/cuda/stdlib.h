// What device code may have of the C library, declared without its headers.
#pragma once

#include <stddef.h>

#include "math.h"

namespace std {
int rand();  // <algorithm> names it
using ::labs, ::llabs;
}  // namespace std
