// Names of values become C identifiers, so that the text form, task.h and messages can show them.
#pragma once

#include <string>
#include <string_view>

#include <onnx/onnx_pb.h>

namespace kforge {

// Every character outside [A-Za-z0-9_] becomes '_'; a leading digit gets a '_' in front.
std::string as_identifier(std::string_view name);

// Renames every value of the model, nested graphs included; two names that would become the same get a
// number.
void sanitise_names(onnx::GraphProto& graph);

}  // namespace kforge
