#include "machine/records.h"

#include <nlohmann/json.hpp>

#include "base/files.h"

namespace kforge {
namespace {

using Json = nlohmann::json;
// Raised when the way of measuring changes, so that old figures are not compared with new.
constexpr int kSchema = 2;
constexpr std::size_t kRecordLimit = 1 << 20;

std::optional<Json> read_record(const fs::path& path) {
  auto text = read_file(path, kRecordLimit);
  if (!text) return std::nullopt;
  Json json = Json::parse(*text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || json.value("schema", Json()) != kSchema)
    return std::nullopt;
  return json;
}

void write_record(const fs::path& path, const Json& json) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  (void)write_file_atomic(path, json.dump(1) + "\n");
}

}  // namespace

std::optional<std::set<std::string>> read_features_record(const fs::path& path) {
  auto json = read_record(path);
  if (!json) return std::nullopt;
  try {
    return json->at("features").get<std::set<std::string>>();
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void write_features_record(const fs::path& path, const std::set<std::string>& features) {
  write_record(path, {{"schema", kSchema}, {"features", features}});
}

std::optional<Peaks> read_peaks_record(const fs::path& path) {
  auto json = read_record(path);
  if (!json) return std::nullopt;
  try {
    Peaks peaks;
    peaks.fp32_gflops = json->at("fp32_gflops");
    peaks.fp64_gflops = json->at("fp64_gflops");
    peaks.amx_bf16_gflops = json->at("amx_bf16_gflops");
    peaks.measured_at = json->at("measured_at");
    peaks.threads = json->at("threads");
    peaks.disturbed = json->value("disturbed", false);
    for (const Json& row : json->at("bandwidths"))
      peaks.bandwidths.push_back(
          {row.at("level"), row.at("bytes"), row.at("read_gb_s"), row.at("copy_gb_s")});
    if (!(peaks.fp32_gflops > 0) || peaks.bandwidths.empty()) return std::nullopt;
    return peaks;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void write_peaks_record(const fs::path& path, const Peaks& peaks) {
  Json rows = Json::array();
  for (const Bandwidth& b : peaks.bandwidths)
    rows.push_back(
        {{"level", b.level}, {"bytes", b.bytes}, {"read_gb_s", b.read_gb_s}, {"copy_gb_s", b.copy_gb_s}});
  write_record(path, {{"schema", kSchema},
                      {"fp32_gflops", peaks.fp32_gflops},
                      {"fp64_gflops", peaks.fp64_gflops},
                      {"amx_bf16_gflops", peaks.amx_bf16_gflops},
                      {"bandwidths", rows},
                      {"measured_at", peaks.measured_at},
                      {"threads", peaks.threads},
                      {"disturbed", peaks.disturbed}});
}

}  // namespace kforge
