// Progress on a terminal.
#pragma once

#include <memory>

#include "base/progress.h"

namespace kforge {

// A line on standard error, rewritten in place on a terminal, one line per stage elsewhere. Work shorter than
// `patience_seconds` shows nothing at all.
std::unique_ptr<Progress> make_progress(bool quiet, double patience_seconds = 2.0);

}  // namespace kforge
