#include "mcp/tools.h"

namespace kforge::mcp {

std::vector<Tool> all_tools(const OwnProgram& program, Jobs& jobs) {
  return {list_tasks(program),       show_task(program),
          list_platforms(program),   kernel_contract(program),
          evaluate_kernel(program),  start_forge(program, jobs),
          job_status(program, jobs), stop_job(jobs),
          list_results(program),     show_result(program),
          compare(program),          analyse_profile(program),
          import_module(program),    start_suite(program, jobs)};
}

}  // namespace kforge::mcp
