// kforge platforms check, declared beside the list (platforms.cc).
#pragma once

#include <string>

namespace kforge {

// `report`: where the report goes; empty: a file in KForge's home. Gives the exit code: passed, failed,
// missing.
int check_one_platform(const std::string& platform, const std::string& report, bool json);

}  // namespace kforge
