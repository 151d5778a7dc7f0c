#include <gmock/gmock.h>

#include "base/files.h"
#include "generate/sample_attempt.h"
#include "report/page_room.h"
#include "report/page_template.h"
#include "report/run_evidence.h"
#include "report/sample_page.h"
#include "store/sample_report.h"

namespace kforge {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kHostile = "</script><script>alert('x')</script>\"><img src=x onerror=alert(1)>{{policy}}";

Attempt attempt(int number, int parent, const std::string& source, double time_ns, bool accepted) {
  Attempt a{.number = number};
  a.proposal.parent = parent;
  a.proposal.pass = parent < 0 ? Pass::kFunctional : Pass::kOptimization;
  set_source(a, source);
  a.generation->change = "change of " + std::to_string(number);
  a.generation->generator = "builtin";
  a.generation->seconds = 1;
  AttemptJudgement& found = judged(a, accepted ? Outcome::kPassed : Outcome::kSlower);
  found.time_ns = time_ns;
  found.speedup = Speedup{{6.26e6 / time_ns, 6e6 / time_ns, 6.5e6 / time_ns}, "onednn"};
  found.seconds = 3;
  a.decision = Decision{accepted, accepted};
  return a;
}

RunReport sample_run() {
  RunReport r;
  r.id = "2run";
  r.created_at = "2026-01-31T12:00:00Z";
  r.task = "core/softmax";
  r.platform = "cpu";
  r.shape_set = "bench";
  r.precision = "fp32";
  r.strategy = "chain";
  r.generators = {"builtin"};
  r.analyst = "rules";
  r.budget = "30s";
  r.state = RunState::kFinished;
  r.ended = Ending::kSeconds;
  r.best = passed_report();
  r.best_attempt = 3;
  r.folder = "/somewhere/out";
  r.kernel_path = "/somewhere/out/kernel.cc";
  r.attempts = {attempt(1, -1, "int first;\nint same;\n", 8e6, true),
                attempt(2, 1, "int second;\nint same;\n", 9e6, false),
                attempt(3, 1, "int third;  // it is\nint same;\n", 3.4e6, true)};
  r.attempts[2].judgement->over_best = Speedup{{2.3, 2.2, 2.4}, "attempt 1"};
  r.attempts[2].judgement->over_rival = r.attempts[2].judgement->over_best;
  set_advice(r.attempts[2],
             {.bottleneck = "memory", .change = "fuse the loops", .expected_gain = 1.5, .tag = "fuse"});
  r.seconds = {{"prepare", 2.5}, {"search", 12}, {"confirm", 4}};
  r.notes = {"a remark"};
  return r;
}

RunEvidence sample_evidence() {
  RunEvidence e;
  e.peaks =
      Peaks{.fp32_gflops = 150, .bandwidths = {{"L2", 1 << 20, 80, 60}, {"memory", 0, 20, 15}}, .threads = 2};
  e.profiled = 1;
  e.profile.facts = {{"hot_loop_vector_bits", 512, "", "objdump"}};
  e.profile.texts = {{"hot loop", "vmulps zmm0, zmm1", "objdump"}};
  e.profile.pictures = {{"window", "tool", std::string("\x89PNG\r\n\x1a\n") + "data"}};
  e.profile.absent = {"perf: no counters on this machine"};
  StoredExchange call;
  call.call.key = {"generator", 1, 0};
  call.call.model = "some:model";
  call.call.state = CallState::kReceived;
  call.call.reply = "the reply";
  call.call.output_tokens = 77;
  call.call.dollars = 0.01;
  call.prompt = "# system\nrules\n\n# user\nwrite it";
  e.exchanges = {call, call};
  e.seed = 0x123;
  return e;
}

TEST(Page, OfARunTellsTheWholeStoryInOrder) {
  auto page = to_html(sample_run(), sample_evidence());
  ASSERT_TRUE(page) << page.error().text();
  EXPECT_EQ(page_fault(*page), "");
  std::size_t at = 0;
  for (const char* next : {"core/softmax on cpu",
                           "Verified: 1.83x [1.80, 1.86] over onednn",
                           "id=\"contenders\"",
                           "oneDNN 2.6.3, 2 threads",
                           "1.83x [1.80, 1.86]",
                           "fails gate extreme",
                           "id=\"roofline\"",
                           "memory 20 GB/s",
                           "path of the best",
                           "id=\"search\"",
                           "the budget of seconds was used up",
                           "2.30x [2.20, 2.40]",
                           "fuse: promised 1.50x, measured 2.30x [2.20, 2.40]",
                           "id=\"kernel\"",
                           "<span class=\"keyword\">int</span> third;",
                           "What it changed in attempt 1",
                           "- int first;",
                           "+ int third;",
                           "id=\"gates\"",
                           "accuracy",
                           "wrong elements: 0 of 4096",
                           "id=\"profile\"",
                           "vmulps",
                           "data:image/png;base64,",
                           "512",
                           "no counters",
                           "id=\"conversation\"",
                           "77 out, $0.0100",
                           "write it",
                           "the reply",
                           "after the same system text",
                           "id=\"reproduce\"",
                           "kforge forge core/softmax",
                           "kforge recheck 3f2k9a0bx1cd",
                           "kforge eval core/softmax",
                           "Some Processor",
                           "fedcba9876543210",
                           "a remark"}) {
    const std::size_t found = page->find(next, at);
    EXPECT_NE(found, page->npos) << "not there, or not in its place: " << next;
    if (found != page->npos) at = found;
  }
}

TEST(Page, NeedsNoNetworkAndAllowsNoScripts) {
  std::string page = *to_html(sample_run(), sample_evidence());
  EXPECT_THAT(page, AllOf(HasSubstr("default-src 'none'; style-src 'sha256-"),
                          HasSubstr("prefers-color-scheme: dark"), HasSubstr("@media print"),
                          HasSubstr("width=device-width")));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<link")), Not(HasSubstr("unsafe-inline")),
                          Not(HasSubstr(" style=")), Not(HasSubstr("{{"))));
  // The only addresses are names of XML's vocabularies.
  for (std::size_t at = page.find("http"); at != page.npos; at = page.find("http", at + 1))
    EXPECT_TRUE(page.substr(at).starts_with("http://www.w3.org/") ||
                page.substr(at).starts_with("http-equiv"))
        << page.substr(at, 60);
}

// Everything that a stranger can have written.
RunReport hostile_run() {
  RunReport r = sample_run();
  const std::string& h = kHostile;
  r.task = r.platform = r.shape_set = r.precision = r.strategy = r.analyst = r.budget = r.id = r.created_at =
      h;
  r.generators = r.notes = r.judge_arguments = {h};
  r.folder = r.kernel_path = "/" + h;
  EvalReport& best = *r.best;
  best.task = best.machine_text = best.machine = best.clock = best.arithmetic = best.cache = best.sandbox = h;
  best.kernel_hash = best.task_hash = best.result_id = best.kforge_version = best.task_path = h;
  best.device = {h, h, true};
  best.cases = {{.dims = {{h, 3}}}};
  best.notes = best.flags = {h};
  best.baselines[0].name = best.baselines[0].what = best.baselines[0].release.version = h;
  best.speedup->against = h;
  best.absent_baselines = {{h, h, h}};
  best.roofline->bound = h;
  best.build->command = best.asked_baselines = {h};
  best.build->march = h;
  best.kernelbench->what = h;
  best.seeds[0].purpose = h;
  for (GateResult& gate : best.gates) {
    gate.summary = h;
    gate.evidence = Figures{{{h, h}}};
  }
  best.modelled = Modelled{1, h};
  for (Attempt& a : r.attempts) {
    set_source(a, "// " + h + "\n" + h + "\n\"" + h);
    a.generation->program->files[0].name = h;
    a.generation->change = a.generation->rationale = a.generation->generator = h;
    a.generation->remarks = {h};
    set_advice(a, {.bottleneck = h, .change = h, .tag = h, .by = h});
  }
  judged(r.attempts[1], Outcome::kCompileError).reason = h;
  return r;
}

RunEvidence hostile_evidence() {
  RunEvidence e = sample_evidence();
  const std::string& h = kHostile;
  e.peaks->bandwidths[0].level = e.peaks->measured_at = h;
  e.profile.facts = {{h, 1, h, h}};
  e.profile.texts = {{h, h, h}};
  e.profile.pictures = {{h, h, "\x89PNG" + h}, {h, h, h}};
  e.profile.absent = {h};
  for (StoredExchange& exchange : e.exchanges) {
    exchange.prompt = exchange.call.reply = exchange.call.model = exchange.call.key.role = h;
    exchange.call.detail = h;
  }
  return e;
}

TEST(Page, ScriptsInEveryFieldStayText) {
  EvalReport refused = *hostile_run().best;
  refused.outcome = Outcome::kWrongValue;
  refused.reason = kHostile;
  const Candidate program = *hostile_run().attempts[0].program();
  for (const auto& page : {to_html(hostile_run(), hostile_evidence()), to_html(*hostile_run().best, &program),
                           to_html(refused, &program)}) {
    ASSERT_TRUE(page) << page.error().text();
    EXPECT_EQ(page_fault(*page), "");
    EXPECT_THAT(*page,
                AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<img src=x")), HasSubstr("&lt;script&gt;")));
  }
}

TEST(Page, StaysSmallWhateverIsInTheRun) {
  RunReport r = sample_run();
  const std::string huge(3'000'000, '<');
  r.attempts[2].generation->program->files[0].content = huge;
  for (int i = 4; i < 3000; ++i) {
    r.attempts.push_back(attempt(i, i - 1, "int x;", 5e6, false));
    r.attempts.back().generation->change = std::string(1000, '"');
    if (i % 2) judged(r.attempts.back(), Outcome::kCrash).reason = std::string(20'000, '&');
  }
  RunEvidence e = sample_evidence();
  e.profile.texts.assign(50, {"remarks", huge, "g++"});
  e.profile.pictures = {{"window", "tool", "\x89PNG" + huge}};
  e.exchanges.assign(1000, e.exchanges[0]);
  for (StoredExchange& exchange : e.exchanges)
    exchange.prompt = exchange.call.reply = std::string(100'000, '\'');
  std::string page = *to_html(r, e);
  EXPECT_LT(page.size(), 2'000'000u);
  EXPECT_EQ(page_fault(page), "");
  EXPECT_THAT(page, AllOf(HasSubstr("left out"), HasSubstr("too large for this page"),
                          HasSubstr("2799 attempts are left out"), HasSubstr("kforge forge core/softmax")));
}

TEST(Page, ARunWithoutAProgramHasAPageToo) {
  RunReport r = sample_run();
  r.best.reset();
  r.best_attempt.reset();
  std::string page = *to_html(r, {});
  EXPECT_EQ(page_fault(page), "");
  EXPECT_THAT(page, AllOf(HasSubstr("No verified program was found"), HasSubstr("headline failed")));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("id=\"contenders\"")), Not(HasSubstr("id=\"kernel\"")),
                          Not(HasSubstr("id=\"profile\""))));
  r.attempts.clear();
  r.state = RunState::kRunning;
  EXPECT_THAT(*to_html(r, {}), AllOf(HasSubstr("Not finished"), HasSubstr("headline unfinished")));
  // A minute later it will have seconds to draw.
  r.seconds = {{"search", 0}};
  EXPECT_THAT(*to_html(r, {}), AllOf(Not(HasSubstr("Where the time went")), Not(HasSubstr("0.0 s"))));
}

TEST(Page, TheHeadlineLooksLikeWhatWasShown) {
  RunReport r = sample_run();
  EXPECT_THAT(*to_html(r, {}), HasSubstr("headline faster"));
  r.best->speedup = Speedup{{1.04, 0.94, 1.09}, "onednn"};
  EXPECT_THAT(*to_html(r, {}),
              AllOf(HasSubstr("headline no_difference"), HasSubstr("no difference was shown")));
  r.best->speedup = Speedup{{0.8, 0.7, 0.9}, "onednn"};
  EXPECT_THAT(*to_html(r, {}), HasSubstr("headline slower"));
  r.best = modelled_report();
  EXPECT_THAT(*to_html(r, {}),
              AllOf(HasSubstr("headline verified"), HasSubstr("ranks programs and is no time")));
}

TEST(Page, OfAResultHasTheVerdictAndItsEvidence) {
  const Candidate program{{{"softmax.cc", "int x;\n"}}, "file softmax.cc"};
  std::string page = *to_html(passed_report(), &program);
  EXPECT_EQ(page_fault(page), "");
  EXPECT_THAT(page, AllOf(HasSubstr("Verified: 1.83x"), HasSubstr("softmax.cc"),
                          HasSubstr("kforge recheck 3f2k9a0bx1cd")));
  page = *to_html(refused_report(), nullptr);
  EXPECT_EQ(page_fault(page), "");
  EXPECT_THAT(page, AllOf(HasSubstr("Not verified: wrong value at gate accuracy"),
                          HasSubstr("37 of 4096 elements"), HasSubstr("headline failed")));
}

TEST(Page, OfATimedResultDrawsItBelowTheLimitThatBinds) {
  EvalReport report = passed_report();
  report.flops = 4e9;
  report.bytes = 1e9;
  report.achieved = Achieved{100, 25};
  report.roofline = Roofline{"memory", 0.5};
  EXPECT_THAT(*to_html(report, nullptr),
              AllOf(HasSubstr("id=\"roofline\""), HasSubstr("memory 50 GB/s"), HasSubstr("the kernel")));
  report.roofline = Roofline{"compute", 0.5};
  EXPECT_THAT(*to_html(report, nullptr), HasSubstr("compute 200 GFLOP/s"));
  report.flops = 0;
  EXPECT_THAT(*to_html(report, nullptr), Not(HasSubstr("id=\"roofline\"")));
}

TEST(PageRoom, CutsAndSaysHowMuchIsMissing) {
  PageRoom room(1000);
  EXPECT_EQ(room.text("a<b", 100).text, "a&lt;b");
  EXPECT_EQ(room.left(), 994u);
  std::string cut = room.text(std::string(500, '"'), 600).text;
  EXPECT_LE(cut.size(), 640u);
  EXPECT_THAT(cut, HasSubstr("of 500 B left out]"));
  EXPECT_FALSE(room.take(1000));
  EXPECT_TRUE(room.take(room.left()));
  EXPECT_EQ(room.text("abc", 100).text, "\n[3 B of 3 B left out]\n");
}

TEST(PageTemplate, AMissingPageIsNamed) {
  auto none = render_page("no_such_page", {});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("no_such_page.mustache"));
  EXPECT_THAT(none.error().remedy, HasSubstr("KFORGE_DATA"));
}

}  // namespace
}  // namespace kforge
