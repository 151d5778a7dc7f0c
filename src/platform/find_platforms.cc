// Where platforms are: the shipped folders, the user's own in KForge's home, and any path.
#include <algorithm>

#include "base/files.h"
#include "base/nearest.h"
#include "platform/read_platform.h"

namespace kforge {
namespace {

struct Place {
  std::string name;
  fs::path folder;
};

// Folders with a platform.toml below `root`, by name; none where `root` does not exist.
std::vector<Place> places_in(const fs::path& root) {
  std::vector<Place> places;
  std::error_code error;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (fs::exists(it->path() / "platform.toml", ignored))
      places.push_back({it->path().filename().string(), it->path()});
  }
  std::ranges::sort(places, {}, &Place::name);
  return places;
}

struct Places {
  std::vector<Place> shipped, own;
};

Result<Places> all_places() {
  Places places;
  KF_TRY(fs::path root, data_root());
  places.shipped = places_in(root / "platforms");
  if (places.shipped.empty()) return fail("there is no platform in {}", (root / "platforms").string());
  if (auto home = kforge_home()) places.own = places_in(*home / "platforms");
  return places;
}

}  // namespace

Result<Platform> load_platform(std::string_view spec) {
  fs::path path(spec);
  std::error_code ignored;
  if (spec.find('/') != std::string_view::npos || fs::exists(path / "platform.toml", ignored)) {
    if (!fs::exists(path / "platform.toml", ignored))
      return fail_with_remedy("a platform is a folder with platform.toml, notes.md and example/",
                              fmt::format("no platform.toml in {}", spec));
    return read_platform(path);
  }
  KF_TRY(Places places, all_places());
  std::vector<std::string> names;
  for (const auto* list : {&places.shipped, &places.own})
    for (const Place& place : *list) {
      if (place.name == spec) return read_platform(place.folder);
      names.push_back(place.name);
    }
  return fail_with_remedy("`kforge platforms` lists them; a folder of your own is given by its path",
                          fmt::format("no platform '{}'{}", spec, did_you_mean(spec, names)));
}

Result<std::vector<ListedPlatform>> list_platforms() {
  KF_TRY(Places places, all_places());
  std::vector<ListedPlatform> listed;
  for (const Place& place : places.shipped)
    listed.push_back({place.name, place.folder, read_platform(place.folder)});
  for (const Place& place : places.own) {
    bool hidden = std::ranges::find(places.shipped, place.name, &Place::name) != places.shipped.end();
    Result<Platform> read =
        hidden ? fail_with_remedy("give the folder another name, or use it by its path",
                                  fmt::format("{} is called like a shipped platform, which goes before it",
                                              place.folder.string()))
               : read_platform(place.folder);
    listed.push_back({place.name, place.folder, std::move(read)});
  }
  return listed;
}

}  // namespace kforge
