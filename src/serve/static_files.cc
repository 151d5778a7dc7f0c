#include "serve/static_files.h"

#include "base/files.h"
#include "serve/guard.h"
#include "serve/page.h"

namespace kforge::serve {
namespace {

struct StaticFile {
  const char *name, *file, *type;
};
constexpr StaticFile kFiles[] = {
    {"style.css", "style.css", "text/css; charset=utf-8"},
    {"site.css", "serve/site.css", "text/css; charset=utf-8"},
    {"site.js", "serve/site.js", "text/javascript; charset=utf-8"},
    {"icon.svg", "serve/icon.svg", "image/svg+xml"},
};
constexpr std::size_t kMostBytes = 1 << 20;

}  // namespace

Answer static_file(const Asked& asked) {
  for (const StaticFile& file : kFiles) {
    if (asked.parts[0] != file.name) continue;
    auto root = data_root();
    if (!root) return not_found(asked, root.error());
    auto text = read_file(*root / "pages" / file.file, kMostBytes);
    if (!text) return not_found(asked, text.error());
    return {.type = file.type, .body = std::move(*text), .headers = {{"Cache-Control", "no-cache"}}};
  }
  return refusal(asked, 404, "There is no such file");
}

}  // namespace kforge::serve
