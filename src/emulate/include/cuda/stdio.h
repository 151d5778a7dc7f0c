// printf, and no files.
#pragma once

#include "kforge/libm.h"

namespace std {
using ::printf;
}  // namespace std
