// The languages of devices: the same loops, other spellings.
#pragma once

#include <cstdint>
#include <string_view>

namespace kforge::smith {

enum class DeviceLanguage : std::uint8_t { kOpenCl, kGlsl, kCuda, kMsl };
inline constexpr DeviceLanguage kDeviceLanguages[] = {DeviceLanguage::kOpenCl, DeviceLanguage::kGlsl,
                                                      DeviceLanguage::kCuda, DeviceLanguage::kMsl};
std::string_view name_of(DeviceLanguage language);  // "opencl", "glsl", "cuda", "msl"

}  // namespace kforge::smith
