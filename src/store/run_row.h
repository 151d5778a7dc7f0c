// A row of the table `run` as a record.
#pragma once

#include <string>

#include "store/runs.h"

namespace kforge {

// "SELECT ... FROM run ", for read_run. Without the document: lists need none, and it is long.
std::string run_columns(bool with_document);
Result<StoredRun> read_run(const Statement& row);

}  // namespace kforge
