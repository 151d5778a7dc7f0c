// Brings a store to the version this KForge writes: schema.sql, then the numbered files of migrations/.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "store/sqlite.h"

namespace kforge {

struct Migration {
  int version;            // 1, 2, 3, ... without gaps
  std::string_view name;  // file it comes from
  std::string_view sql;
};

// The files embedded at build time, in order.
std::span<const Migration> all_migrations();

// Applies what is missing, all of it or nothing. A store from a newer KForge is refused and left as it is.
Result<void> migrate(Database& database, std::span<const Migration> migrations);

}  // namespace kforge
