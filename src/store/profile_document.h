// What was measured, as the store keeps it: profiles in CBOR (pictures are bytes), the setting in JSON.
#pragma once

#include <string>
#include <string_view>

#include "profile/profile.h"
#include "store/runs.h"

namespace kforge {

std::string profile_document(const Profile& profile);
Result<Profile> profile_from_document(std::string_view document);
// Its reference kernel is kept apart, by its hash; "" for none.
std::string setting_document(const MeasuredSetting& setting, const std::string& reference_hash);
Result<MeasuredSetting> setting_from_document(std::string_view document, std::string& reference_hash);

}  // namespace kforge
