// Names of tensors and dimensions as C identifiers.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace kforge {

// The rule (docs/tasks.md): a character outside [A-Za-z0-9_] becomes '_'; a leading digit gets 't' in front,
// a leading
// '_' too; a keyword of C++, a name task.h itself uses, or one in `taken` gets '_' behind, then '_2', '_3',
// ... The result is added to `taken`.
std::string make_c_name(std::string_view name, std::set<std::string>& taken);

}  // namespace kforge
