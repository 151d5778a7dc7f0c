#include "device/package_folder.h"

#include <unistd.h>

#include <cstring>
#include <fstream>

#include "base/files.h"

namespace kforge {

Result<std::string> write_package_files(const DevicePackage& package, std::size_t first) {
  const char* scratch = std::getenv("TMPDIR");
  std::string folder = std::string(scratch ? scratch : "/tmp") + "/sources.XXXXXX";
  if (!::mkdtemp(folder.data())) return fail("cannot make a folder for sources: {}", std::strerror(errno));
  for (std::size_t i = first; i < package.files.size(); ++i) {
    const fs::path path = fs::path(folder) / package.files[i].name;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (!(std::ofstream(path) << package.files[i].content)) return fail("cannot write {}", path.string());
  }
  return folder;
}

}  // namespace kforge
