// What a measured ratio shows, in words: the same on the terminal, in Markdown and in JSON.
#pragma once

#include <string>

#include "base/interval.h"

namespace kforge {

// "the interval holds 1: no difference was shown", "it is slower than onednn"; "" for what is faster.
std::string caution(const Speedup& speedup);
// "1.31x [1.20, 1.40] over onednn", with the caution behind it where there is one.
std::string headline_of(const Speedup& speedup);
// "1.31x [1.20, 1.40]".
std::string interval_text(const Speedup& speedup);

}  // namespace kforge
