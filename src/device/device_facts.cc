#include "device/device_facts.h"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/readable.h"

namespace kforge {

std::string DeviceFacts::text() const {
  std::string line = fmt::format("{} ({}, driver {})", name, version, driver);
  if (!sub_groups.empty()) line += fmt::format(", sub-groups of {}", fmt::join(sub_groups, " "));
  return line + fmt::format(", {} of memory, {} shared by a block of up to {} threads",
                            readable_bytes(static_cast<double>(memory_bytes)),
                            readable_bytes(static_cast<double>(shared_bytes)), most_threads);
}

std::string to_json(const DeviceFacts& facts) {
  return nlohmann::json{{"api", facts.api},
                        {"name", facts.name},
                        {"version", facts.version},
                        {"driver", facts.driver},
                        {"type", facts.type},
                        {"compute_units", facts.compute_units},
                        {"most_threads", facts.most_threads},
                        {"shared_bytes", facts.shared_bytes},
                        {"memory_bytes", facts.memory_bytes},
                        {"largest_buffer", facts.largest_buffer},
                        {"alignment", facts.alignment},
                        {"sub_groups", facts.sub_groups},
                        {"fp16", facts.fp16},
                        {"fp64", facts.fp64},
                        {"denormals", facts.denormals},
                        {"nonfinite", facts.nonfinite},
                        {"clock_tick_ns", facts.clock_tick_ns}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<DeviceFacts> facts_from_json(std::string_view text) {
  try {
    const auto json = nlohmann::json::parse(text);
    DeviceFacts facts;
    json.at("api").get_to(facts.api);
    json.at("name").get_to(facts.name);
    json.at("version").get_to(facts.version);
    json.at("driver").get_to(facts.driver);
    json.at("type").get_to(facts.type);
    json.at("compute_units").get_to(facts.compute_units);
    json.at("most_threads").get_to(facts.most_threads);
    json.at("shared_bytes").get_to(facts.shared_bytes);
    json.at("memory_bytes").get_to(facts.memory_bytes);
    json.at("largest_buffer").get_to(facts.largest_buffer);
    json.at("alignment").get_to(facts.alignment);
    json.at("sub_groups").get_to(facts.sub_groups);
    json.at("fp16").get_to(facts.fp16);
    json.at("fp64").get_to(facts.fp64);
    json.at("denormals").get_to(facts.denormals);
    json.at("nonfinite").get_to(facts.nonfinite);
    json.at("clock_tick_ns").get_to(facts.clock_tick_ns);
    return facts;
  } catch (const nlohmann::json::exception& error) {
    return fail("what kforge-device says of the device cannot be read: {}", error.what());
  }
}

}  // namespace kforge
