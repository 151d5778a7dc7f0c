// What must never happen to a store: a half-written record, a lost one, or a file that can no longer be read,
// when processes write at once, die in the middle of a write, or run out of disk.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "store/store.h"

namespace kforge {
namespace {

StoredResult result_with_evidence(int gates = 20) {
  StoredResult result;
  result.id = new_result_id() + std::to_string(::getpid());
  result.created_at = utc_now();
  result.task = "core/softmax";
  result.outcome = "passed";
  result.document = std::string(2000, 'd');
  for (int i = 0; i < gates; ++i)
    result.gates.push_back({"gate", "passed", "summary", std::string(500, 'e')});
  return result;
}

// Runs `body` in a child; its return value is the exit code.
template <class Body>
pid_t in_child(Body body) {
  pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  return child;
}

int exit_code_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::int64_t number(Database& database, const char* sql) {
  auto query = database.prepare(sql);
  EXPECT_TRUE(query) << query.error().text();
  return query && *query->step() ? query->integer(0) : -1;
}

void expect_whole(const fs::path& folder, int gates_per_result) {
  auto store = Store::open(folder);
  ASSERT_TRUE(store) << store.error().text();
  Database database = *Database::open(folder / "store.db");
  auto check = database.prepare("PRAGMA integrity_check");
  ASSERT_TRUE(*check->step());
  EXPECT_EQ(check->text(0), "ok");
  EXPECT_EQ(number(database, "SELECT count(*) FROM gate"),
            gates_per_result * number(database, "SELECT count(*) FROM result"));
}

class StoreFaultTest : public testing::Test {
 protected:
  TempDir folder_ = *TempDir::create();
};

TEST_F(StoreFaultTest, TwoProcessesOpenAndWriteAtOnce) {
  auto write_many = [&] {
    auto store = Store::open(folder_.path());
    if (!store) return 1;
    for (int i = 0; i < 100; ++i) {
      if (!store->save_result(result_with_evidence())) return 2;
      if (!store->next_check_secret("shared")) return 3;
    }
    return 0;
  };
  pid_t one = in_child(write_many), two = in_child(write_many);
  EXPECT_EQ(exit_code_of(one), 0);
  EXPECT_EQ(exit_code_of(two), 0);
  expect_whole(folder_.path(), 20);
  Database database = *Database::open(folder_.path() / "store.db");
  EXPECT_EQ(number(database, "SELECT count(*) FROM result"), 200);
  EXPECT_EQ(number(database, "SELECT uses FROM check_secret"), 200) << "no use of the secret was lost";
}

TEST_F(StoreFaultTest, KilledWriterLosesNothingThatWasSaved) {
  for (int round = 0; round < 8; ++round) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    pid_t writer = in_child([&] {
      auto store = Store::open(folder_.path());
      for (;;) {
        StoredResult result = result_with_evidence();
        if (!store || !store->save_result(result)) return 1;
        // The id is told only after the save came back: from here on it must be found.
        if (::write(ready[1], (result.id + "\n").c_str(), result.id.size() + 1) < 0) return 2;
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + 7 * round));
    ::kill(writer, SIGKILL);
    EXPECT_EQ(exit_code_of(writer), -SIGKILL);
    ::close(ready[1]);
    std::string saved;
    char buffer[4096];
    for (ssize_t n; (n = ::read(ready[0], buffer, sizeof buffer)) > 0;)
      saved.append(buffer, static_cast<std::size_t>(n));
    ::close(ready[0]);

    expect_whole(folder_.path(), 20);
    auto store = Store::open(folder_.path());
    std::size_t at = 0, end = 0;
    for (; (end = saved.find('\n', at)) != std::string::npos; at = end + 1)
      EXPECT_TRUE(store->result(saved.substr(at, end - at)));
  }
}

// RLIMIT_FSIZE makes writes fail as a full disk does, without needing one.
TEST_F(StoreFaultTest, FullDiskRefusesTheRecordAndKeepsTheStore) {
  { ASSERT_TRUE(Store::open(folder_.path())->save_result(result_with_evidence())); }
  pid_t writer = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{300'000, 300'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto store = Store::open(folder_.path());
    if (!store) return 1;
    for (int i = 0; i < 1000; ++i) {
      auto saved = store->save_result(result_with_evidence());
      if (saved) continue;
      // The store answers on after the refusal, and says what to do.
      return saved.error().remedy.find("disk space") != std::string::npos && store->latest_results({}) ? 0
                                                                                                       : 2;
    }
    return 3;
  });
  EXPECT_EQ(exit_code_of(writer), 0);
  expect_whole(folder_.path(), 20);
  EXPECT_TRUE(Store::open(folder_.path())->save_result(result_with_evidence()))
      << "writable again once there is room";
}

TEST_F(StoreFaultTest, FullDiskLeavesNoHalfArtefact) {
  auto write_too_much = [&] {
    ::signal(SIGXFSZ, SIG_IGN);
    auto store = Store::open(folder_.path());
    rlimit limit{50'000, 50'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    return store && !store->save_artefact(std::string(200'000, 'a')) ? 0 : 1;
  };
  EXPECT_EQ(exit_code_of(in_child(write_too_much)), 0);
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path() / "artefacts"))
    EXPECT_FALSE(entry.is_regular_file()) << entry.path();
}

TEST_F(StoreFaultTest, ReadOnlyStoreIsAnErrorWithARemedy) {
  if (::geteuid() == 0) {
    // Root may write anywhere: become nobody in a child.
    { ASSERT_TRUE(Store::open(folder_.path())); }
    fs::permissions(folder_.path(), fs::perms(0755));
    fs::permissions(folder_.path() / "store.db", fs::perms(0644));
    EXPECT_EQ(exit_code_of(in_child([&] {
                if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 1;
                auto store = Store::open(folder_.path());
                auto saved = store ? store->save_result(result_with_evidence())
                                   : Result<void>(std::unexpected(store.error()));
                return !saved && saved.error().remedy.find("KFORGE_HOME") != std::string::npos ? 0 : 2;
              })),
              0);
    return;
  }
  { ASSERT_TRUE(Store::open(folder_.path())); }
  fs::permissions(folder_.path(), fs::perms(0500));
  fs::permissions(folder_.path() / "store.db", fs::perms(0400));
  auto store = Store::open(folder_.path());
  auto saved =
      store ? store->save_result(result_with_evidence()) : Result<void>(std::unexpected(store.error()));
  fs::permissions(folder_.path(), fs::perms(0700));
  ASSERT_FALSE(saved);
  EXPECT_NE(saved.error().remedy.find("KFORGE_HOME"), std::string::npos);
}

}  // namespace
}  // namespace kforge
