// Runs of other processes are stopped from the page, by those who may.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve/sample_site.h"

namespace kforge::serve {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Another process works on the run, as from another terminal.
class ForeignRunTest : public SiteTest {
 protected:
  pid_t worker_ = 0;

  // Before the server: a process with threads is not to be forked.
  void work() {
    int said[2];
    ASSERT_EQ(::pipe(said), 0);
    worker_ = ::fork();
    if (worker_ == 0) {
      auto lock = (*RunRecords::open())->hold(run_);
      (void)!::write(said[1], lock ? "x" : "-", 1);
      for (;;) ::pause();
    }
    char byte = 0;
    ASSERT_EQ(::read(said[0], &byte, 1), 1);
    ASSERT_EQ(byte, 'x');
    for (int fd : said) ::close(fd);
  }
  // The signal that ended it; 0: it lives.
  int ended_by(bool wait) {
    int status = 0;
    if (::waitpid(worker_, &status, wait ? 0 : WNOHANG) != worker_) return 0;
    worker_ = 0;
    return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
  }
  std::string csrf_of(const std::string& page) {
    const std::size_t at = page.find("name=\"csrf\" value=\"");
    return at == page.npos ? "" : page.substr(at + 19, 32);
  }
  void TearDown() override {
    if (worker_ > 0) ::kill(worker_, SIGKILL), ended_by(true);
    SiteTest::TearDown();
  }
};

TEST_F(ForeignRunTest, IsStoppedFromThePageByWhoKnowsTheToken) {
  work();
  serve();
  const std::string stop = "/runs/" + run_ + "/stop";
  EXPECT_THAT(get("/runs/" + run_).body, Not(HasSubstr("/stop\""))) << "not for those who may only look";
  EXPECT_EQ(post(stop, "", "").status, 401);
  const std::string page = get("/runs/" + run_, cookie()).body;
  EXPECT_THAT(page, HasSubstr("action=\"" + stop + "\""));
  EXPECT_EQ(post(stop, "", cookie()).status, 403) << "without the form's word";
  EXPECT_EQ(ended_by(false), 0);
  RawAnswer done = post(stop, "csrf=" + csrf_of(page), cookie());
  EXPECT_EQ(done.status, 303) << done.body;
  EXPECT_EQ(done.headers["location"], "/runs/" + run_);
  EXPECT_EQ(ended_by(true), SIGINT);
  EXPECT_EQ(post(stop, "csrf=" + csrf_of(page), cookie()).status, 409) << "nobody works on it any more";
  EXPECT_THAT(get("/runs/" + run_, cookie()).body, Not(HasSubstr(stop)));
}

TEST_F(ForeignRunTest, ASecondStopDoesNotInterruptTwice) {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  struct sigaction before {};
  ::sigaction(SIGINT, &ignore, &before);  // inherited: the worker outlives the first
  work();
  ::sigaction(SIGINT, &before, nullptr);
  serve();
  const std::string stop = "/runs/" + run_ + "/stop.json", token = "Authorization: Bearer secret\r\n";
  EXPECT_THAT(post(stop, "x=1", token).body, AllOf(HasSubstr("kforge.stop/1"), HasSubstr("stopping")));
  EXPECT_THAT(get("/runs/" + run_, cookie()).body,
              AllOf(HasSubstr("It was asked to end"), Not(HasSubstr("/stop\""))));
  EXPECT_EQ(post(stop, "x=1", token).status, 200);
  EXPECT_EQ(ended_by(false), 0);
}

TEST_F(ForeignRunTest, NothingIsStoppedReadOnlyOrByANameThatIsNone) {
  work();
  serve();
  const std::string token = "Authorization: Bearer secret\r\n";
  for (const char* wrong : {"zzz", "..%2f..%2fx", "-", "00000000run9"})
    EXPECT_EQ(post("/runs/" + std::string(wrong) + "/stop", "x=1", token).status, 404) << wrong;
  EXPECT_EQ(post("/suites/zzz/stop", "x=1", token).status, 404);
  server_->stop();
  serve(true);
  EXPECT_EQ(post("/runs/" + run_ + "/stop", "x=1", token).status, 403);
  EXPECT_THAT(get("/runs/" + run_, cookie()).body, Not(HasSubstr("/stop\"")));
  EXPECT_EQ(ended_by(false), 0);
}

}  // namespace
}  // namespace kforge::serve
