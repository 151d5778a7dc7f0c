#include "device/device_package.h"

#include <nlohmann/json.hpp>

namespace kforge {
namespace {

using Json = nlohmann::json;

Json binary(const std::string& bytes) { return Json::binary({bytes.begin(), bytes.end()}); }
std::string bytes_of(const Json& json) {
  const auto& bytes = json.get_binary();
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::string DevicePackage::prelude() const {
  std::string lines;
  for (const auto& [name, value] : macros) lines += fmt::format("#define {} {}\n", name, value);
  return lines + fmt::format("#line 1 \"{}\"\n", files.front().name);
}

std::string to_bytes(const DevicePackage& package) {
  Json files = Json::array(), tensors = Json::array(), binaries = Json::object();
  for (const DeviceSource& file : package.files) files.push_back({file.name, binary(file.content)});
  for (const PlanTensor& tensor : package.setting.tensors)
    tensors.push_back({tensor.name, name_of(tensor.dtype), tensor.bytes, tensor.param, tensor.output});
  for (const auto& [name, code] : package.binaries) binaries[name] = binary(code);
  const Json json{{"api", package.api},
                  {"files", files},
                  {"macros", package.macros},
                  {"plan", binary(package.plan)},
                  {"tensors", tensors},
                  {"dimensions", package.setting.dimensions},
                  {"most_threads", package.setting.most_threads},
                  {"most_memory", package.setting.most_memory},
                  {"non_uniform", package.setting.non_uniform},
                  {"binaries", binaries}};
  const std::vector<std::uint8_t> bytes = Json::to_cbor(json);
  return {bytes.begin(), bytes.end()};
}

Result<DevicePackage> package_from(std::string_view bytes) {
  try {
    const Json json = Json::from_cbor(bytes.begin(), bytes.end());
    DevicePackage package;
    json.at("api").get_to(package.api);
    for (const Json& file : json.at("files")) package.files.push_back({file.at(0), bytes_of(file.at(1))});
    json.at("macros").get_to(package.macros);
    package.plan = bytes_of(json.at("plan"));
    for (const Json& tensor : json.at("tensors")) {
      auto dtype = dtype_from_name(tensor.at(1).get<std::string>());
      if (!dtype) return fail("the package names an unknown type");
      package.setting.tensors.push_back(
          {tensor.at(0), *dtype, tensor.at(2), tensor.at(3).get<bool>(), tensor.at(4).get<bool>()});
    }
    json.at("dimensions").get_to(package.setting.dimensions);
    json.at("most_threads").get_to(package.setting.most_threads);
    json.at("most_memory").get_to(package.setting.most_memory);
    json.at("non_uniform").get_to(package.setting.non_uniform);
    for (const auto& [name, code] : json.at("binaries").items()) package.binaries[name] = bytes_of(code);
    if (package.files.empty()) return fail("the package has no source");
    return package;
  } catch (const Json::exception& error) {
    return fail("not a package of a device program: {}", error.what());
  }
}

}  // namespace kforge
