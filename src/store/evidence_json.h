// Evidence as JSON and back. Figures that JSON has no numbers for (infinities, NaN) are text in it.
#pragma once

#include <string>
#include <string_view>

#include "base/evidence.h"
#include "store/json_reader.h"

namespace kforge {

JsonReader::Json to_json(const Evidence& evidence);  // null: there is none
// What does not read is left out: evidence explains a verdict, it decides nothing.
Evidence evidence_from_json(const JsonReader::Json& json);

// The same as text, "" for none.
std::string evidence_text(const Evidence& evidence);
Evidence evidence_from_text(std::string_view text);

}  // namespace kforge
