// A model client that remembers: every question is written down before it is asked and every reply before it
// is used. A reply that was received completely is never asked for again, also not by the process that
// resumes a killed run.
#pragma once

#include <memory>
#include <string>

#include "llm/llm.h"
#include "store/runs.h"

namespace kforge {

// How a call is marked whose reply was recorded for another prompt (StoredCall::detail).
inline constexpr std::string_view kOtherPrompt = "replayed, but recorded for another prompt";

class RememberingModel final : public ModelClient {
 public:
  // Both outlive this.
  RememberingModel(ModelClient& model, RunRecords& records, std::string run)
      : model_(&model), records_(&records), run_(std::move(run)) {}

  std::string name() const override { return model_->name(); }
  bool accepts_images() const override { return model_->accepts_images(); }
  Result<ModelReply> ask(const ModelRequest& request, const ReplyWatch& watch) override;

 private:
  ModelClient* model_;
  RunRecords* records_;
  std::string run_;
};

}  // namespace kforge
