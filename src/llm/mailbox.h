// A model that is whoever answers files: a person, a coding assistant, a batch system.
//
// Each prompt appears as DIR/<role>-<attempt>-<ordinal>.prompt.md, its pictures beside it; the reply is taken
// from <same>.reply.md once its size has stopped changing. Both stay there: the folder reads as the run's
// transcript. The first run that uses a folder owns the plain names (DIR/.kforge-run says which run that is);
// the files of another run begin with its id, so that no reply to an old question is taken for a new one. A
// resumed run finds its own questions, and the replies given to them while it was away.
#pragma once

#include <memory>

#include "llm/llm.h"

namespace kforge {

Result<std::unique_ptr<ModelClient>> open_mailbox_model(const std::string& folder,
                                                        const ModelSettings& settings);

// The prompt as the file shows it. `reply_name`: where the reply goes; `pictures`: names of the picture
// files.
std::string mailbox_prompt(const ModelRequest& request, const std::string& reply_name,
                           const std::vector<std::string>& pictures);

}  // namespace kforge
