// Model calls: the question is written down before it is asked, the reply before it is used. And the two
// small memories of the built-in search: which schedule won, which tunables were tried.
#include <algorithm>
#include <iterator>
#include <utility>

#include "store/runs.h"

namespace kforge {
namespace {

using Lock = std::lock_guard<std::mutex>;

void bind_key(Statement& statement, std::string_view run, const CallKey& key) {
  statement.bind(run).bind(key.role).bind(std::int64_t{key.attempt}).bind(std::int64_t{key.ordinal});
}

constexpr const char* kCallColumns =
    "SELECT role, attempt, ordinal, take, model, state, ended, detail, reply, input_tokens, "
    "cache_read_tokens, "
    "cache_write_tokens, output_tokens, estimated, dollars, seconds, tries, request FROM model_call ";

constexpr std::string_view kStates[] = {"asked", "received", "failed", "lost"};

CallState state_from(std::string_view name) {
  auto found = std::ranges::find(kStates, name);
  return found == std::end(kStates) ? CallState::kLost : static_cast<CallState>(found - std::begin(kStates));
}

ReplyEnd end_from(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(ReplyEnd::kCancelled); ++i)
    if (name_of(static_cast<ReplyEnd>(i)) == name) return static_cast<ReplyEnd>(i);
  return ReplyEnd::kGarbage;
}

// Leaves the reply's hash in `reply`.
StoredCall read_call(const Statement& row) {
  StoredCall call;
  call.key = {row.text(0), static_cast<int>(row.integer(1)), static_cast<int>(row.integer(2))};
  call.take = static_cast<int>(row.integer(3));
  call.model = row.text(4);
  call.state = state_from(row.text(5));
  call.ended = end_from(row.text(6));
  call.detail = row.text(7);
  call.reply = row.text(8);
  call.input_tokens = row.integer(9);
  call.cache_read_tokens = row.integer(10);
  call.cache_write_tokens = row.integer(11);
  call.output_tokens = row.integer(12);
  call.estimated = row.integer(13) != 0;
  if (!row.is_null(14)) call.dollars = row.real(14);
  call.seconds = row.real(15);
  call.tries = static_cast<int>(row.integer(16));
  return call;
}

}  // namespace

std::string_view name_of(CallState state) { return kStates[static_cast<std::size_t>(state)]; }

Result<int> RunRecords::begin_call(std::string_view run, const CallKey& key, std::string_view model,
                                   std::string_view prompt) {
  Lock lock(mutex_);
  KF_TRY(std::string hash, store_.save_artefact(prompt));
  KF_TRY(auto transaction, Transaction::begin(database_));
  KF_TRY(auto query,
         database_.prepare("SELECT coalesce(max(take) + 1, 0) FROM model_call WHERE run = ? AND role = ? AND "
                           "attempt = ? AND ordinal = ?"));
  bind_key(query, run, key);
  KF_TRY([[maybe_unused]] bool found, query.step());
  int take = static_cast<int>(query.integer(0));
  KF_TRY(auto insert,
         database_.prepare("INSERT INTO model_call(run, role, attempt, ordinal, take, model, state, request, "
                           "input_tokens, asked_at) VALUES (?,?,?,?,?,?,'asked',?,?,?)"));
  bind_key(insert, run, key);
  // Until the service says better: about four letters a token. It stands when the reply is lost.
  insert.bind(std::int64_t{take})
      .bind(model)
      .bind(hash)
      .bind(static_cast<std::int64_t>(prompt.size() / 4))
      .bind(utc_now());
  KF_TRY_VOID(insert.run());
  KF_TRY_VOID(written(transaction.commit()));
  return take;
}

Result<void> RunRecords::end_call(std::string_view run, const StoredCall& call) {
  Lock lock(mutex_);
  std::optional<std::string> reply;
  if (call.state == CallState::kReceived) {
    KF_TRY(reply, store_.save_artefact(call.reply));
  }
  std::string_view ended = call.state == CallState::kFailed ? "" : name_of(call.ended);
  KF_TRY(
      auto update,
      database_.prepare(
          "UPDATE model_call SET state = ?, reply = ?, ended = ?, detail = ?, input_tokens = ?, "
          "cache_read_tokens = ?, cache_write_tokens = ?, output_tokens = ?, estimated = ?, dollars = ?, "
          "seconds = ?, tries = ? WHERE run = ? AND role = ? AND attempt = ? AND ordinal = ? AND take = ?"));
  update.bind(name_of(call.state)).bind(reply).bind(ended).bind(call.detail).bind(call.input_tokens);
  update.bind(call.cache_read_tokens).bind(call.cache_write_tokens).bind(call.output_tokens);
  update.bind(std::int64_t{call.estimated})
      .bind(call.dollars)
      .bind(call.seconds)
      .bind(std::int64_t{call.tries});
  bind_key(update, run, call.key);
  return written(update.bind(std::int64_t{call.take}).run());
}

Result<std::optional<StoredCall>> RunRecords::received(std::string_view run, const CallKey& key,
                                                       std::string_view model) {
  Lock lock(mutex_);
  KF_TRY(auto query,
         database_.prepare(std::string(kCallColumns) +
                           "WHERE run = ? AND role = ? AND attempt = ? AND ordinal = ? "
                           "AND state = 'received' AND (?5 = '' OR model = ?5) ORDER BY take LIMIT 1"));
  bind_key(query, run, key);
  query.bind(model);
  KF_TRY(bool found, query.step());
  if (!found) {
    KF_TRY(auto update,
           database_.prepare(
               "UPDATE model_call SET state = 'lost', estimated = 1 WHERE run = ? AND role = ? AND "
               "attempt = ? AND ordinal = ? AND state = 'asked'"));
    bind_key(update, run, key);
    KF_TRY_VOID(update.run());
    return std::nullopt;
  }
  StoredCall call = read_call(query);
  KF_TRY(call.reply, store_.load_artefact(call.reply));
  return call;
}

Result<std::vector<StoredCall>> RunRecords::calls(std::string_view run) {
  Lock lock(mutex_);
  KF_TRY(auto query, database_.prepare(std::string(kCallColumns) +
                                       "WHERE run = ? ORDER BY attempt, role, ordinal, take"));
  query.bind(run);
  std::vector<StoredCall> calls;
  for (;;) {
    KF_TRY(bool more, query.step());
    if (!more) return calls;
    calls.push_back(read_call(query));
    calls.back().reply.clear();
  }
}

Result<std::vector<StoredExchange>> RunRecords::exchanges(std::string_view run, std::size_t texts) {
  Lock lock(mutex_);
  KF_TRY(auto query, database_.prepare(std::string(kCallColumns) +
                                       "WHERE run = ? ORDER BY attempt, asked_at, role, ordinal, take"));
  query.bind(run);
  std::vector<StoredExchange> exchanges;
  for (;;) {
    KF_TRY(bool more, query.step());
    if (!more) return exchanges;
    StoredExchange exchange{read_call(query), ""};
    const std::string lost = "[the store has lost this text]";
    std::string reply = std::exchange(exchange.call.reply, "");
    if (exchanges.size() < texts) {
      exchange.prompt = store_.load_artefact(query.text(17)).value_or(lost);
      if (!reply.empty()) exchange.call.reply = store_.load_artefact(reply).value_or(lost);
    }
    exchanges.push_back(std::move(exchange));
  }
}

Result<std::optional<std::string>> RunRecords::waiting_for(std::string_view run) {
  Lock lock(mutex_);
  KF_TRY(auto query, database_.prepare("SELECT model FROM model_call WHERE run = ? AND state = 'asked' "
                                       "ORDER BY asked_at DESC LIMIT 1"));
  KF_TRY(bool found, query.bind(run).step());
  if (!found) return std::nullopt;
  return query.text(0);
}

Result<std::optional<RunRecords::Winner>> RunRecords::winner(std::string_view family,
                                                             std::string_view platform,
                                                             std::string_view machine,
                                                             std::string_view precision) {
  Lock lock(mutex_);
  KF_TRY(auto query,
         database_.prepare("SELECT schedule, run, time_ns FROM winner WHERE family = ? AND platform = ? AND "
                           "machine = ? AND precision = ?"));
  KF_TRY(bool found, query.bind(family).bind(platform).bind(machine).bind(precision).step());
  if (!found) return std::nullopt;
  return Winner{query.text(0), query.text(1), query.real(2)};
}

Result<void> RunRecords::save_winner(std::string_view family, std::string_view platform,
                                     std::string_view machine, std::string_view precision,
                                     const Winner& winner) {
  Lock lock(mutex_);
  KF_TRY(auto insert, database_.prepare("INSERT OR REPLACE INTO winner VALUES (?,?,?,?,?,?,?,?)"));
  insert.bind(family).bind(platform).bind(machine).bind(precision).bind(winner.schedule);
  return insert.bind(winner.time_ns).bind(winner.run).bind(utc_now()).run();
}

Result<std::optional<std::string>> RunRecords::tuning(std::string_view candidate, std::string_view task_key,
                                                      std::string_view machine) {
  Lock lock(mutex_);
  KF_TRY(auto query, database_.prepare(
                         "SELECT document FROM tuning WHERE candidate = ? AND task_key = ? AND machine = ?"));
  KF_TRY(bool found, query.bind(candidate).bind(task_key).bind(machine).step());
  if (!found) return std::nullopt;
  return query.text(0);
}

Result<void> RunRecords::save_tuning(std::string_view candidate, std::string_view task_key,
                                     std::string_view machine, std::string_view document) {
  Lock lock(mutex_);
  KF_TRY(auto insert, database_.prepare("INSERT OR REPLACE INTO tuning VALUES (?,?,?,?,?)"));
  return insert.bind(candidate).bind(task_key).bind(machine).bind(document).bind(utc_now()).run();
}

}  // namespace kforge
