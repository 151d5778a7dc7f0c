// Scripted conversations for whole runs: small tasks, each with a kernel that computes it, told slow or fast,
// broken in the ways models break things.
#pragma once

#include <string>
#include <vector>

#include "e2e/model_server.h"

namespace kforge {

struct ScriptedTask {
  std::string name;       // "core/relu"
  std::string signature;  // the parameters of kernel()
  std::string body;       // computes the task
  std::string wrong;      // compiles, computes something else
  int slow;               // repeats that take a millisecond or so: slower beyond all noise
};

// Five tasks of different families, small shapes.
const std::vector<ScriptedTask>& scripted_tasks();

// A reply with the kernel as one fenced file. `repeats`: how often the body is computed, to make it slow.
ModelStep kernel_reply(const ScriptedTask& task, const std::string& body, int repeats = 1);
ModelStep right(const ScriptedTask& task, int repeats = 1);
ModelStep does_not_compile(const ScriptedTask& task);
ModelStep wrong_values(const ScriptedTask& task);
ModelStep cheats(const ScriptedTask& task);  // answers from a cache of earlier inputs' addresses
ModelStep crashes(const ScriptedTask& task);
// Advice as the analyst's prompt asks for it.
ModelStep advice(const std::string& tag, const std::string& change);

}  // namespace kforge
