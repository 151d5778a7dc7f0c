// What is remembered about a machine between runs, as JSON files under kforge_home()/machine. A record that
// is missing, damaged or written by another version is simply absent; one that cannot be written is not an
// error.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "machine/machine.h"

namespace kforge {

std::optional<std::set<std::string>> read_features_record(const std::filesystem::path& path);
void write_features_record(const std::filesystem::path& path, const std::set<std::string>& features);

std::optional<Peaks> read_peaks_record(const std::filesystem::path& path);
void write_peaks_record(const std::filesystem::path& path, const Peaks& peaks);

}  // namespace kforge
