#include "command/command_package.h"

#include <nlohmann/json.hpp>

namespace kforge {
namespace {

using Json = nlohmann::json;

// One that climbs out of its folder, or names no file, is not of KForge's making.
bool good_path(std::string_view path) {
  return (path.starts_with("program/") || path.starts_with("platform/")) && !path.ends_with('/') &&
         path.find("..") == std::string_view::npos;
}

}  // namespace

std::string to_bytes(const CommandPackage& package) {
  Json files = Json::array(), tensors = Json::array();
  for (const PackageFile& file : package.files)
    files.push_back({file.path, Json::binary({file.content.begin(), file.content.end()}), file.executable});
  for (const CommandTensor& tensor : package.tensors)
    tensors.push_back(
        {tensor.name, name_of(tensor.dtype), tensor.shape, tensor.param, tensor.read, tensor.written});
  const std::vector<std::uint8_t> bytes = Json::to_cbor({{"argv", package.argv},
                                                         {"files", files},
                                                         {"program", package.program},
                                                         {"tensors", tensors},
                                                         {"symbols", package.symbols}});
  return {bytes.begin(), bytes.end()};
}

Result<CommandPackage> command_package_from(std::string_view bytes) {
  try {
    const Json json = Json::from_cbor(bytes.begin(), bytes.end());
    CommandPackage package;
    json.at("argv").get_to(package.argv);
    json.at("program").get_to(package.program);
    json.at("symbols").get_to(package.symbols);
    for (const Json& file : json.at("files")) {
      const auto& content = file.at(1).get_binary();
      package.files.push_back({file.at(0), {content.begin(), content.end()}, file.at(2).get<bool>()});
      if (!good_path(package.files.back().path)) return fail("the package has a file with a bad name");
    }
    for (const Json& row : json.at("tensors")) {
      const auto dtype = dtype_from_name(row.at(1).get<std::string>());
      if (!dtype) return fail("the package names an unknown type");
      package.tensors.push_back({row.at(0), *dtype, row.at(2).get<std::vector<std::int64_t>>(),
                                 row.at(3).get<bool>(), row.at(4).get<bool>(), row.at(5).get<bool>()});
    }
    if (package.argv.empty() || package.files.empty()) return fail("the package has no command, or no files");
    return package;
  } catch (const Json::exception& error) {
    return fail("not a package of a command program: {}", error.what());
  }
}

}  // namespace kforge
