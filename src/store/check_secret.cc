// The secret seeds of check inputs while searching. Several candidates share one, so that the oracle's values
// can be cached; it is never shown, it is renewed from time to time, and no verdict that counts rests on it:
// `eval`, `recheck` and the confirmation of a search's winner draw their own.
#include <charconv>

#include "base/random_seed.h"
#include "store/store.h"

namespace kforge {
namespace {

// A damaged record is no reason to fail: a new secret is as good.
std::optional<std::uint64_t> parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return seed;
}

}  // namespace

Result<CheckSecret> Store::next_check_secret(std::string_view task_key) {
  KF_TRY(auto transaction, Transaction::begin(database_));
  KF_TRY(auto query, database_.prepare("SELECT seed, uses FROM check_secret WHERE task_key = ?"));
  KF_TRY(bool found, query.bind(task_key).step());
  CheckSecret secret;
  std::optional<std::uint64_t> seed = found ? parse_seed(query.text(0)) : std::nullopt;
  std::string created_at = utc_now();
  if (seed && query.integer(1) >= 0 && query.integer(1) < kSecretUses) {
    secret = {*seed, static_cast<int>(query.integer(1)) + 1};
    KF_TRY(auto update, database_.prepare("UPDATE check_secret SET uses = ? WHERE task_key = ?"));
    KF_TRY_VOID(update.bind(std::int64_t{secret.uses}).bind(task_key).run());
  } else {
    secret = {random_seed(), 1};
    KF_TRY(auto insert, database_.prepare("INSERT OR REPLACE INTO check_secret VALUES (?, ?, 1, ?)"));
    KF_TRY_VOID(insert.bind(task_key).bind(fmt::format("{:016x}", secret.seed)).bind(created_at).run());
  }
  KF_TRY_VOID(transaction.commit());
  return secret;
}

}  // namespace kforge
