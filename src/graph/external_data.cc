#include "graph/external_data.h"

#include <charconv>
#include <fstream>

namespace kforge {
namespace {

namespace fs = std::filesystem;

struct Place {
  std::string location;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  // 0: not stated
};

Result<std::uint64_t> number(const std::string& tensor, const std::string& key, const std::string& text) {
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return fail("tensor '{}': external data has the {} '{}', which is no number", tensor, key, text);
  return value;
}

Result<Place> place_of(const onnx::TensorProto& proto) {
  Place place;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") place.location = entry.value();
    if (entry.key() == "offset") {
      KF_TRY(place.offset, number(proto.name(), "offset", entry.value()));
    }
    if (entry.key() == "length") {
      KF_TRY(place.length, number(proto.name(), "length", entry.value()));
    }
  }
  if (place.location.empty()) return fail("tensor '{}': external data without a location", proto.name());
  return place;
}

bool is_inside(const fs::path& file, const fs::path& folder) {
  auto relative = file.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

Result<std::vector<std::byte>> read_external_data(const onnx::TensorProto& proto, const fs::path& folder,
                                                  std::size_t bytes) {
  KF_TRY(Place place, place_of(proto));
  if (folder.empty()) return fail("tensor '{}': external data is not allowed here", proto.name());
  std::error_code error;
  fs::path root = fs::canonical(folder, error);
  fs::path file = error ? fs::path() : fs::canonical(root / place.location, error);
  if (error)
    return fail("tensor '{}': its external data '{}' is not there ({})", proto.name(), place.location,
                error.message());
  if (!is_inside(file, root))
    return fail("tensor '{}': its external data '{}' lies outside the model's folder", proto.name(),
                place.location);
  if (!fs::is_regular_file(file, error))
    return fail("tensor '{}': its external data '{}' is not a file", proto.name(), place.location);
  std::uint64_t size = fs::file_size(file, error), end = 0;
  if (error || (place.length != 0 && place.length != bytes) ||
      __builtin_add_overflow(place.offset, static_cast<std::uint64_t>(bytes), &end) || end > size)
    return fail("tensor '{}': its external data '{}' does not hold the {} bytes it needs at offset {}",
                proto.name(), place.location, bytes, place.offset);
  std::vector<std::byte> data(bytes);
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(place.offset));
  stream.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(bytes));
  if (!stream) return fail("tensor '{}': cannot read its external data '{}'", proto.name(), place.location);
  return data;
}

}  // namespace kforge
