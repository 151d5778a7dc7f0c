#include "baseline/library_release.h"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>

#include "baseline/python_probe.h"

namespace kforge {
namespace {

using std::chrono::year_month;

struct ReleaseRow {
  std::string_view library, version;
  int year, month;
};

// First releases of a minor version, oldest first.
constexpr ReleaseRow kReleases[] = {
    {"onednn", "2.6", 2022, 3},       {"onednn", "2.7", 2022, 9},       {"onednn", "3.0", 2022, 12},
    {"onednn", "3.1", 2023, 3},       {"onednn", "3.2", 2023, 6},       {"onednn", "3.3", 2023, 10},
    {"onednn", "3.4", 2024, 3},       {"onednn", "3.5", 2024, 6},       {"onednn", "3.6", 2024, 10},
    {"onednn", "3.7", 2025, 2},       {"onnxruntime", "1.16", 2023, 9}, {"onnxruntime", "1.17", 2024, 1},
    {"onnxruntime", "1.18", 2024, 5}, {"onnxruntime", "1.19", 2024, 8}, {"onnxruntime", "1.20", 2024, 11},
    {"onnxruntime", "1.21", 2025, 3}, {"onnxruntime", "1.22", 2025, 5}, {"torch", "1.13", 2022, 10},
    {"torch", "2.0", 2023, 3},        {"torch", "2.1", 2023, 10},       {"torch", "2.2", 2024, 1},
    {"torch", "2.3", 2024, 4},        {"torch", "2.4", 2024, 7},        {"torch", "2.5", 2024, 10},
    {"torch", "2.6", 2025, 1},        {"torch", "2.7", 2025, 4},        {"torch", "2.8", 2025, 8},
};

constexpr std::chrono::months kOld{24};

bool is_old(year_month released, year_month today) { return released + kOld < today; }

std::string text_of(year_month month) {
  return fmt::format("{}-{:02}", static_cast<int>(month.year()), static_cast<unsigned>(month.month()));
}

// "1.13" of "1.13.0a0+git".
std::string_view minor_version(std::string_view version) {
  std::size_t dot = version.find('.');
  if (dot == std::string_view::npos) return version;
  std::size_t end = version.find_first_not_of("0123456789", dot + 1);
  return version.substr(0, end);
}

}  // namespace

year_month current_month() {
  std::chrono::year_month_day today{std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())};
  return today.year() / today.month();
}

LibraryRelease library_release(std::string_view library, std::string_view version, year_month today) {
  LibraryRelease release{std::string(version), "", false};
  if (library == "openvino") {
    int year = 0;
    std::from_chars(version.data(), version.data() + version.size(), year);
    if (year < 2018) return release;
    release.released = std::to_string(year);
    release.old = is_old(std::chrono::year(year) / 12, today);  // the latest it can be
    return release;
  }
  const ReleaseRow* row = nullptr;
  const ReleaseRow* first = nullptr;
  for (const ReleaseRow& one : kReleases) {
    if (one.library != library) continue;
    if (!first) first = &one;
    if (one.version == minor_version(version)) row = &one;
  }
  auto date = [](const ReleaseRow& of) { return std::chrono::year(of.year) / of.month; };
  if (row) {
    release.released = text_of(date(*row));
    release.old = is_old(date(*row), today);
  } else if (first && is_newer(first->version, version) && version.find_first_of("0123456789") == 0) {
    release.released = "before " + text_of(date(*first));
    release.old = is_old(date(*first), today);
  }
  return release;
}

std::string to_string(std::string_view library, const LibraryRelease& release) {
  std::string text = fmt::format("{} {}", library, release.version);
  return release.old ? fmt::format("{} ({}: old)", text, release.released) : text;
}

}  // namespace kforge
