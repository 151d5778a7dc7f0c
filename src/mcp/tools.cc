#include "mcp/tools.h"

namespace kforge::mcp {

std::vector<Tool> all_tools(const OwnProgram& program, Jobs& jobs, WritingSessions& sessions) {
  return {list_tasks(program),
          show_task(program),
          list_platforms(program),
          kernel_contract(program),
          evaluate_kernel(program, sessions),
          start_session(program, sessions),
          start_forge(program, jobs),
          job_status(program, jobs),
          stop_job(jobs),
          list_results(program),
          list_runs(program),
          show_result(program),
          compare(program),
          analyse_profile(program),
          import_module(program),
          start_suite(program, jobs)};
}

}  // namespace kforge::mcp
