// The tools of the server.
#pragma once

#include "mcp/jobs.h"
#include "mcp/writing_sessions.h"

namespace kforge::mcp {

// In the order they are listed in. What they are given outlives them.
std::vector<Tool> all_tools(const OwnProgram& program, Jobs& jobs, WritingSessions& sessions);

Tool list_tasks(const OwnProgram& program);
Tool show_task(const OwnProgram& program);
Tool list_platforms(const OwnProgram& program);
Tool kernel_contract(const OwnProgram& program);
Tool list_results(const OwnProgram& program);
Tool list_runs(const OwnProgram& program);
Tool show_result(const OwnProgram& program);
Tool compare(const OwnProgram& program);
Tool analyse_profile(const OwnProgram& program);
Tool evaluate_kernel(const OwnProgram& program, WritingSessions& sessions);
Tool start_session(const OwnProgram& program, WritingSessions& sessions);
Tool import_module(const OwnProgram& program);
Tool start_forge(const OwnProgram& program, Jobs& jobs);
Tool start_suite(const OwnProgram& program, Jobs& jobs);
Tool job_status(const OwnProgram& program, Jobs& jobs);
Tool stop_job(Jobs& jobs);

// What a report says in a sentence; empty where it has none.
std::string summary_of(const Json& report);

// A report small enough for a context window: these fields, long texts cut.
Json short_report(const Json& report);

}  // namespace kforge::mcp
