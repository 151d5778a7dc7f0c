// The agents of a run: those the user named, each model behind a client that remembers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyse/analyst.h"
#include "forge/forge.h"
#include "forge/remembering_model.h"
#include "generate/generator.h"
#include "store/runs.h"

namespace kforge {

struct Agents {
  std::vector<std::unique_ptr<ModelClient>> models;  // as opened, and the remembering ones around them
  std::vector<std::unique_ptr<Generator>> generators;
  // In the order in which they are asked: the next one when the service of one fails, the rules last.
  std::vector<std::unique_ptr<Analyst>> analysts;

  // What holds of every generator, and of any.
  bool every(bool GeneratorTraits::*trait) const;
  bool any(bool GeneratorTraits::*trait) const;
};

// An Error names the spec that cannot be opened.
Result<Agents> open_agents(const ForgeOptions& options, const ForgeHost& host, RunRecords& records,
                           const std::string& run, const Workspace& workspace);

}  // namespace kforge
