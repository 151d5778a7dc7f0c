// Files named by the SHA-256 of their content, under artefacts/ab/abcd....
#include "base/hash.h"
#include "store/store.h"

namespace kforge {

std::filesystem::path Store::artefact_path(std::string_view hash) const {
  return folder_ / "artefacts" / hash.substr(0, 2) / hash;
}

Result<std::string> Store::save_artefact(std::string_view content) {
  std::string hash = sha256_hex(content);
  fs::path path = artefact_path(hash);
  std::error_code error;
  if (fs::file_size(path, error) == content.size() && !error) return hash;
  fs::create_directories(path.parent_path(), error);
  if (error)
    return fail_with_remedy(
        "set KFORGE_HOME to a folder that KForge may write",
        fmt::format("cannot create {}: {}", path.parent_path().string(), error.message()));
  // Something else under that name (a folder, left by who knows what) would be in the way of every later
  // result.
  if (fs::is_directory(path, error)) fs::remove_all(path, error);
  KF_TRY_VOID(write_file_atomic(path, content, 0600));
  return hash;
}

Result<std::string> Store::load_artefact(std::string_view hash) const {
  KF_TRY(std::string content, read_file(artefact_path(hash)));
  if (sha256_hex(content) != hash)
    return fail("the stored file {} is damaged: its content no longer has that hash",
                artefact_path(hash).string());
  return content;
}

}  // namespace kforge
