// Replies kept in a file and given again: a run without a network. One JSON object per line; keys are taken
// out when it is written, never when it is read. A reply is found by role, attempt and ordinal; calls with
// the same three get theirs in the order of recording.
#pragma once

#include <memory>
#include <string>

#include "llm/llm.h"

namespace kforge {

// Asks `inner` and appends every call, failed ones too, to the file.
std::unique_ptr<ModelClient> make_recording_model(std::unique_ptr<ModelClient> inner, std::string file);

Result<std::unique_ptr<ModelClient>> open_replay_model(const std::string& file);

// What a prompt says, pictures included; the output limit and the place in the run do not count.
std::string prompt_hash(const ModelRequest& request);

}  // namespace kforge
