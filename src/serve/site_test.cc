// The pages over real connections, from a store in which every text is an attack.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "report/sample_page.h"
#include "serve/sample_site.h"
#include "store/live_status.h"

namespace kforge::serve {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Without the site's own script element.
std::string without_own_script(std::string page) {
  const std::string own = "<script src=\"/static/site.js\" defer=\"defer\"></script>";
  if (const std::size_t at = page.find(own); at != page.npos) page.erase(at, own.size());
  return page;
}

std::string word(const std::string& text) {
  std::string coded;
  for (unsigned char c : text) coded += fmt::format("%{:02X}", c);
  return coded;
}

TEST_F(SiteTest, EveryPageEscapesEverythingAndIsWellFormed) {
  serve();
  hold_run();
  for (const std::string& path : std::vector<std::string>{
           "/", "/runs", "/runs/" + run_, "/results", "/results/" + result_, "/suites", "/tasks",
           "/tasks/core/relu", "/platforms", "/machines", "/models", "/compare",
           "/compare?a=" + result_ + "&b=" + wrong_, "/start", "/jobs",
           "/compare?a=" + word(kHostile) + "&b=" + word(kHostile), "/start?task=" + word(kHostile),
           "/results?q=" + word(kHostile) + "&sort=" + word(kHostile) + "&task=" + word(kHostile) +
               "&x=" + word(kHostile),
           "/nothing/" + word(kHostile)}) {
    for (const std::string& head : {std::string(), cookie()}) {
      const RawAnswer answer = get(path, head);
      EXPECT_TRUE(answer.status == 200 || answer.status == 404)
          << path << ": " << answer.status << answer.body;
      EXPECT_EQ(page_fault(answer.body), "") << path;
      EXPECT_THAT(without_own_script(answer.body),
                  AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<img src=x")), Not(HasSubstr("secret"))))
          << path;
      EXPECT_LT(answer.body.size(), 300'000u) << path;
    }
  }
}

TEST_F(SiteTest, EveryPageHasItsTwin) {
  serve();
  const std::pair<std::string, std::string> twins[] = {
      {"/index.json", "kforge.overview/1"},
      {"/runs.json", "kforge.runs/1"},
      {"/runs/" + run_ + ".json", "kforge.forge/1"},
      {"/results.json", "kforge.results/1"},
      {"/results/" + result_ + ".json", "kforge.eval/1"},
      {"/suites.json", "kforge.runs/1"},
      {"/tasks.json", "kforge.tasks/1"},
      {"/tasks/core/relu.json", "kforge.task/1"},
      {"/platforms.json", "kforge.platforms/1"},
      {"/machines.json", "kforge.machines/1"},
      {"/models.json", "kforge.models/1"},
      {"/jobs.json", "kforge.jobs/1"},
      {"/start.json", "kforge.start/1"},
      {"/compare.json?a=" + result_ + "&b=" + wrong_, "kforge.compare/1"}};
  for (const auto& [path, schema] : twins) {
    const RawAnswer answer = get(path);
    auto headers = answer.headers;
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_EQ(headers["content-type"], "application/json") << path;
    const auto json = nlohmann::json::parse(answer.body, nullptr, false);
    ASSERT_TRUE(json.is_object()) << path << answer.body;
    EXPECT_EQ(json.value("schema", ""), schema) << path;
  }
  EXPECT_EQ(nlohmann::json::parse(get("/runs/zzz.json").body).value("schema", ""), "kforge.error/1");
}

TEST_F(SiteTest, ListsAreFilteredSortedAndCut) {
  serve();
  auto ids = [&](const std::string& query) {
    std::vector<std::string> found;
    const auto document = nlohmann::json::parse(get("/results.json" + query).body);
    for (const auto& row : document["results"]) found.push_back(row["id"]);
    return found;
  };
  EXPECT_EQ(ids("").size(), 2u);
  EXPECT_EQ(ids("?outcome=wrong_value").size(), 0u);
  EXPECT_EQ(ids("?size=1&page=2").size(), 1u);
  EXPECT_EQ(ids("?q=" + result_), std::vector{result_});
  EXPECT_EQ(ids("?size=99999999999999999999&page=-1&sort=x&order=y").size(), 2u) << "nonsense is ignored";
  auto tasks = nlohmann::json::parse(get("/tasks.json?sort=flops&order=up").body)["tasks"];
  EXPECT_EQ(tasks[0]["name"], "llm/rope");
  EXPECT_EQ(nlohmann::json::parse(get("/tasks.json?q=TURNS").body)["tasks"].size(), 1u);
  EXPECT_EQ(nlohmann::json::parse(get("/tasks.json?suite=core").body)["total"], 1);
}

TEST_F(SiteTest, NoPathLeavesTheStore) {
  serve();
  ASSERT_TRUE(write_file_atomic(home_.path() / "config.toml", "my-key"));
  for (const char* path :
       {"/static/../../config.toml", "/static/..%2f..%2fconfig.toml", "/static/%2e%2e/config.toml",
        "/static/site.css/../x", "/results/..%2f..%2fetc%2fpasswd", "/results/%00", "/suites/..",
        "/suites/%2e%2e%2fx", "/tasks/../../etc", "/tasks/%2fetc%2fpasswd", "/tasks/--help",
        "/tasks/core/relu/../../x", "/jobs/..%2f..", "//etc/passwd", "/runs/%27%20OR%201=1"}) {
    const RawAnswer answer = get(path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_THAT(answer.body, AllOf(Not(HasSubstr("my-key")), Not(HasSubstr("root:")))) << path;
  }
}

TEST_F(SiteTest, TheLoginLinkGivesACookieThatStaysHere) {
  serve();
  EXPECT_EQ(get("/login?token=wrong").status, 401);
  EXPECT_EQ(get("/login").status, 401);
  RawAnswer answer = get("/login?token=secret");
  EXPECT_EQ(answer.status, 303);
  EXPECT_EQ(answer.headers["location"], "/");
  EXPECT_THAT(answer.headers["set-cookie"],
              AllOf(HasSubstr("=secret"), HasSubstr("HttpOnly"), HasSubstr("SameSite=Strict")));
}

TEST_F(SiteTest, ComparesSourcesSideBySide) {
  serve();
  const std::string body = get("/compare?a=" + result_ + "&b=" + wrong_).body;
  EXPECT_THAT(body, AllOf(HasSubstr("<td class=\"removed\">"), HasSubstr("<td class=\"added\">int c;</td>")));
  const std::string two_names = get("/compare?a=" + run_ + ":1&b=" + result_).body;
  EXPECT_THAT(two_names, HasSubstr("<h3><code>kernel.cc, ")) << "main files meet whatever they are called";
  EXPECT_THAT(get("/compare?a=" + run_ + ":7&b=" + result_).body, HasSubstr("has no attempt 7"));
  EXPECT_THAT(get("/compare?a=" + run_ + "&b=" + result_).body, HasSubstr("no verified program"));
  judge_attempt();
  EXPECT_THAT(get("/compare?a=" + run_ + "&b=" + result_).body, HasSubstr("Sources")) << "its best so far";
}

TEST_F(SiteTest, KernelsAndAttemptsAreComparedWithATwinToo) {
  serve();
  auto hash_of = [&](const std::string& id) { return Store::open()->result(id)->candidate; };
  const std::string a = hash_of(result_), b = hash_of(wrong_);
  const std::string page = get("/compare?a=" + a + "&b=" + b).body;
  EXPECT_THAT(page, AllOf(HasSubstr("<td class=\"added\">int c;</td>"), HasSubstr("verdict"),
                          HasSubstr("/compare.json?a=" + a)));
  auto said = [&] { return read_file(home_.path() / "compared").value_or(""); };
  EXPECT_EQ(get("/compare.json?a=" + a + "&b=" + b).status, 200);
  EXPECT_EQ(said(), "compare " + a + " " + b + " --no-time --json\n");
  EXPECT_EQ(get("/compare.json?a=" + run_ + ":1&b=" + result_).status, 200);
  EXPECT_EQ(said(), "compare " + run_ + ":1 " + result_ + " --no-time --json\n");
  for (const char* wrong : {"--help", "..%2fx", "a:b", "last%20x", "x:1:2"})
    EXPECT_EQ(get("/compare.json?a=" + result_ + "&b=" + wrong).status, 400) << wrong;
}

TEST_F(SiteTest, ARunInProgressUpdatesItself) {
  serve();
  hold_run();
  LiveStatusFile status(home_.path(), run_);
  status.tell({.stage = "timing " + kHostile, .searching = true, .clock = 10}, true);
  EXPECT_THAT(get("/runs/" + run_).body,
              AllOf(HasSubstr("data-events=\"/runs/" + run_ + "/events\""), HasSubstr("timing &lt;script")));
  RawClient viewer(server_->port());
  viewer.send("GET /runs/" + run_ + "/events HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server_->port()) +
              "\r\n\r\n");
  // The tiles and the search come together, so that one never speaks of an attempt that the other lacks.
  const std::string first = viewer.receive("run-search");
  EXPECT_THAT(first, AllOf(HasSubstr("text/event-stream"), HasSubstr("run-live"), HasSubstr("run-search"),
                           Not(HasSubstr("<script"))));
  judge_attempt();
  EXPECT_THAT(viewer.receive("attempt 1: 2.00x"), HasSubstr("attempt 1: 2.00x"));
  lock_.reset();
  EXPECT_THAT(viewer.receive("event: end"), HasSubstr("event: end")) << "its process is gone";
  EXPECT_THAT(get("/runs/" + run_).body, Not(HasSubstr("data-events")));
}

class JobTest : public SiteTest {
 protected:
  std::string csrf() {
    const std::string page = get("/start", cookie()).body;
    const std::size_t at = page.find("name=\"csrf\" value=\"");
    return at == page.npos ? "" : page.substr(at + 19, 32);
  }
  nlohmann::json job(const std::string& id) {
    return nlohmann::json::parse(get("/jobs/" + id + ".json").body);
  }
  std::string start(const std::string& more) {
    const RawAnswer answer =
        post("/jobs.json", "task=core/relu&platform=cpu&" + more, "Authorization: Bearer secret\r\n");
    EXPECT_EQ(answer.status, 201) << answer.body;
    return nlohmann::json::parse(answer.body).value("id", "");
  }
  std::string asked() {
    for (int i = 0; i < 400; ++i) {
      if (auto text = read_file(home_.path() / "asked"); text && text->ends_with("\n")) return *text;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return "";
  }
};

TEST_F(JobTest, AFormStartsASearchThatCanBeWatchedAndStopped) {
  serve();
  ASSERT_EQ(csrf().size(), 32u);
  RawAnswer begun = post(
      "/jobs", "kind=forge&task=core/relu&platform=cpu&budget_s=30&shapes=small&csrf=" + csrf(), cookie());
  ASSERT_EQ(begun.status, 303) << begun.body;
  const std::string id = begun.headers["location"].substr(6);
  EXPECT_THAT(asked(), HasSubstr("forge core/relu --shapes=small --budget=30s --on=cpu -v --json --out="));
  RawClient viewer(server_->port());
  viewer.send("GET /jobs/" + id + "/events HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server_->port()) +
              "\r\n\r\n");
  EXPECT_THAT(viewer.receive("timing"), AllOf(HasSubstr("running"), Not(HasSubstr("<script"))));
  EXPECT_THAT(get("/jobs/" + id, cookie()).body, HasSubstr("Stop it"));
  EXPECT_EQ(post("/jobs/" + id + "/stop", "", cookie()).status, 403) << "without the form's word";
  EXPECT_EQ(post("/jobs/" + id + "/stop", "csrf=" + csrf(), cookie()).status, 303);
  EXPECT_THAT(viewer.receive("event: end"), HasSubstr("event: end"));
  EXPECT_EQ(job(id)["state"], "ended");
  EXPECT_THAT(job(id)["outcome"].get<std::string>(), HasSubstr("stopped"));
  EXPECT_THAT(get("/jobs/" + id).body, Not(HasSubstr("<script>alert")));
}

TEST_F(JobTest, AnEvaluationGetsItsKernelInAFileOfItsOwn) {
  serve();
  const std::string id = start("kind=eval&check=yes&kernel=int+x%3B");
  const std::string words = asked();
  EXPECT_THAT(words, AllOf(HasSubstr("eval core/relu --check"), HasSubstr("/kernel.cc")));
  const std::size_t at = words.find("--kernel=") + 9;
  EXPECT_EQ(*read_file(words.substr(at, words.find_first_of(" \n", at) - at)), "int x;");
  EXPECT_EQ(post("/jobs/" + id + "/stop.json", "x=1", "Authorization: Bearer secret\r\n").status, 200);
}

TEST_F(JobTest, ADeviceProgramHasItsPlanBesideIt) {
  serve();
  const std::string token = "Authorization: Bearer secret\r\n",
                    form = "kind=eval&task=core/relu&kernel=k&platform=";
  RawAnswer without = post("/jobs.json", form + "gpu", token);
  EXPECT_EQ(without.status, 400);
  EXPECT_THAT(without.body, HasSubstr("plan.json"));
  EXPECT_THAT(get("/start", cookie()).body, HasSubstr("plan.json, for gpu"));
  EXPECT_THAT(get("/start.json").body, HasSubstr("platforms_with_plan"));
  const RawAnswer begun = post("/jobs.json", form + "gpu&plan=%7B%22run%22%3A%5B%5D%7D", token);
  ASSERT_EQ(begun.status, 201) << begun.body;
  const std::string words = asked();
  const std::size_t at = words.find("--kernel=") + 9;
  const fs::path kernel = words.substr(at, words.find_first_of(" \n", at) - at);
  EXPECT_EQ(*read_file(kernel), "k");
  EXPECT_EQ(*read_file(kernel.parent_path() / "plan.json"), R"({"run":[]})");
  const std::string id = nlohmann::json::parse(begun.body)["id"];
  EXPECT_EQ(post("/jobs/" + id + "/stop.json", "x=1", token).status, 200);
}

TEST_F(JobTest, WhatAFormMustNotAskForIsRefused) {
  serve();
  for (const char* form : {"kind=clean&task=core/relu&platform=cpu", "kind=forge&task=/etc&platform=cpu",
                           "kind=forge&task=--help&platform=cpu", "kind=forge&task=core/relu&platform=../x",
                           "kind=forge&task=core/relu&platform=cpu&shapes=--out",
                           "kind=forge&task=core/relu&platform=cpu&shapes=a+b",
                           "kind=forge&task=core/relu&platform=cpu&budget_s=1e9",
                           "kind=forge&task=core/relu&platform=cpu&attempts=-1",
                           "kind=forge&task=core/relu&platform=cpu&precision=fp1",
                           "kind=forge&task=core/relu&platform=cpu&baseline=x=/etc/passwd",
                           "kind=eval&task=core/relu&platform=cpu"})
    EXPECT_EQ(post("/jobs", form, "Authorization: Bearer secret\r\n").status, 400) << form;
  EXPECT_FALSE(fs::exists(home_.path() / "asked"));
}

TEST_F(JobTest, NothingIsStartedWithoutTheTokenOrReadOnly) {
  serve();
  EXPECT_EQ(post("/jobs", "kind=forge&task=core/relu&platform=cpu", "").status, 401);
  EXPECT_EQ(csrf().size(), 32u);
  EXPECT_THAT(get("/start").body, Not(HasSubstr("<form class=\"fields\"")));
  server_->stop();
  serve(true);
  EXPECT_EQ(
      post("/jobs", "kind=forge&task=core/relu&platform=cpu", "Authorization: Bearer secret\r\n").status,
      403);
  EXPECT_EQ(get("/start", cookie()).status, 404);
  EXPECT_THAT(get("/runs", cookie()).body, Not(HasSubstr("/start")));
  EXPECT_FALSE(fs::exists(home_.path() / "asked"));
}

}  // namespace
}  // namespace kforge::serve
