#include "export/parts.h"

#include <algorithm>

#include "base/result.h"

namespace kforge {

std::string_view export_part(std::string_view name) {
  auto found = std::ranges::find(export_parts(), name, &ExportPart::name);
  KF_CHECK(found != export_parts().end(), "there is no part {} of exports", name);
  return found->text;
}

}  // namespace kforge
