// The setting of a run in words: task, machine and target, as text for prompts.
#pragma once

#include <string>

#include "generate/generator.h"

namespace kforge {

std::string tensor_table(const BoundTask& task);  // Markdown; many tensors share rows
std::string work_text(const BoundTask& task);  // flops, bytes, intensity; by operator when there are several
std::string policy_text(const AgentSetting& context);
std::string machine_text(const AgentSetting& context);
// The platform's notes without what concerns other machines: a section whose heading ends in "(machines with
// X)", and a point that begins so, are shown where X is among the features tried.
std::string notes_for(std::string_view notes, const Machine* machine);
// "epsilon = 1e-05 (LayerNormalization); ..." for the attributes that the graph leaves to ONNX.
std::string defaults_text(const Graph& graph);
// Whether there is a roofline to go by: a library that is faster than the bound shows that the peaks were
// measured on a busy machine.
bool roofline_is_believable(const AgentSetting& context);
std::string target_text(const AgentSetting& context);
std::string operator_text(const AgentSetting& context);
// The files of the platform's example, each between fences; "" when there is none.
std::string example_text(const Platform& platform);
// Whether the worked example computes what this task asks for.
bool example_is(const Platform& platform, const Task& task);
// The files of a program, each between fences with its name.
// At most `limit_bytes` of each.
std::string program_text(const Candidate& program, std::size_t limit_bytes = 96 << 10);

}  // namespace kforge
