// For tests: a store with records whose every text is hostile, a stand-in for the program, and the site on a
// port.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "base/files.h"
#include "forge/option_fields.h"
#include "generate/sample_attempt.h"
#include "serve/raw_http.h"
#include "serve/site.h"
#include "store/sample_report.h"

namespace kforge::serve {

inline const std::string kHostile = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{csrf}}&amp;";

// Answers what pages ask the program for, as quickly as a shell does. A search ends when it is interrupted.
inline constexpr const char* kStandIn = R"sh(#!/bin/sh
evil='<script>alert(1)</script>'
case "$1 $2" in
"tasks --json") echo "{\"schema\":\"kforge.tasks/1\",\"tasks\":[{\"name\":\"core/relu\",\"description\":\"$evil\",\"origin\":\"$evil\",\"flops\":10,\"bytes\":20,\"intensity\":0.5},{\"name\":\"llm/rope\",\"description\":\"turns\",\"origin\":\"\",\"flops\":5,\"bytes\":20,\"intensity\":0.25}]}" ;;
"tasks show") echo "{\"schema\":\"kforge.task/1\",\"name\":\"$3\",\"description\":\"$evil\",\"origin\":\"\",\"hash\":\"ab\",\"dims\":{\"B\":4},\"flops\":10,\"bytes\":20,\"arguments\":[{\"name\":\"$evil\",\"role\":\"input\",\"dtype\":\"float32\",\"shape\":[4]}],\"graph\":\"$evil\",\"task_h\":\"$evil\",\"notes\":[\"$evil\"]}" ;;
"platforms --json") echo "{\"schema\":\"kforge.platforms/1\",\"platforms\":[{\"name\":\"cpu\",\"state\":\"ready\",\"kind\":\"native\",\"language\":\"C++\",\"objective\":\"time\",\"description\":\"$evil\",\"reason\":\"$evil\",\"remedy\":\"\"},{\"name\":\"gpu\",\"state\":\"ready\",\"kind\":\"device\"}]}" ;;
"contract "*) echo '{"schema":"kforge.contract/1","kernel_file":"kernel.cc"}' ;;
"compare "*) echo "$@" > "$KFORGE_HOME/compared"; echo '{"schema":"kforge.compare/1","same_program":false}' ;;
"forge "*|"eval "*)
  echo "$@" > "$KFORGE_HOME/asked"
  echo "$evil timing" >&2
  trap 'echo "{\"schema\":\"kforge.eval/1\",\"outcome\":\"passed\",\"headline\":\"stopped $evil\"}"; exit 130' INT
  i=0; while [ $i -lt 600 ]; do sleep 0.05; i=$((i+1)); done ;;
*) echo '{"schema":"kforge.error/1","error":"no such thing","remedy":""}' ;;
esac
)sh";

class SiteTest : public testing::Test {
 protected:
  TempDir home_ = *TempDir::create();
  std::unique_ptr<mcp::OwnProgram> program_;
  std::unique_ptr<JobBook> jobs_;
  std::unique_ptr<Site> site_;
  std::unique_ptr<Server> server_;
  std::optional<FileLock> lock_;
  std::string result_, wrong_, run_ = "00000000run1";

  void SetUp() override {
    ::setenv("KFORGE_HOME", home_.path().c_str(), 1);
    const fs::path script = home_.path() / "stand-in";
    ASSERT_TRUE(write_file_atomic(script, kStandIn, 0700));
    program_ = std::make_unique<mcp::OwnProgram>(script, home_.path());
    jobs_ = std::make_unique<JobBook>(*program_, home_.path());
    fill_store();
  }
  void TearDown() override {
    if (server_) server_->stop();
    server_.reset();
    ::unsetenv("KFORGE_HOME");
  }

  void serve(bool read_only = false) {
    site_ = std::make_unique<Site>(*program_, std::chrono::milliseconds(50));
    if (!read_only) site_->jobs = jobs_.get();
    server_ = *Server::bind({.read_only = read_only, .token = "secret"});
    mount_site(*server_, *site_);
    server_->start();
  }

  RawAnswer get(const std::string& path, const std::string& head = "") {
    return call(server_->port(), "GET " + path, head);
  }
  std::string cookie() { return "Cookie: kforge_" + std::to_string(server_->port()) + "=secret\r\n"; }
  RawAnswer post(const std::string& path, const std::string& form, const std::string& head) {
    return call(server_->port(), "POST " + path, "Content-Type: application/x-www-form-urlencoded\r\n" + head,
                form);
  }

  std::string save_result(EvalReport report, const std::string& source) {
    Store store = *Store::open();
    report.result_id = new_result_id();
    const Candidate program{{{kHostile + ".cc", source}}, kHostile};
    EXPECT_TRUE(store.save_candidate({program.content_hash(), kHostile, program.files}));
    StoredResult result;
    result.id = report.result_id;
    result.created_at = report.created_at;
    result.candidate = program.content_hash();
    result.task = report.task;
    result.shape_set = report.shape_set;
    result.platform = report.platform;
    result.precision = report.precision;
    result.outcome = std::string(name_of(report.outcome));
    result.machine = report.machine;
    if (report.time_ns) result.time_ns = report.time_ns->value;
    if (report.speedup) result.speedup = report.speedup->value, result.against = report.speedup->against;
    result.document = to_json(report, true);
    EXPECT_TRUE(store.save_result(result));
    return result.id;
  }

  void fill_store() {
    EvalReport report = passed_report();
    report.task = "core/" + kHostile;
    report.machine_text = report.kernel_path = report.platform = kHostile;
    report.notes = {kHostile};
    for (BaselineResult& baseline : report.baselines) baseline.name = baseline.what = kHostile;
    report.speedup->against = kHostile;
    for (GateResult& gate : report.gates) gate.summary = kHostile;
    result_ = save_result(report, "int a;\n" + kHostile + "\nint b;\n");
    wrong_ = save_result(report, "int a;\nint b;\nint c;\n");
    auto records = *RunRecords::open();
    StoredRun run;
    run.id = run_;
    run.created_at = utc_now();
    run.task = run.platform = run.generator = run.analyst = run.strategy = kHostile;
    run.options = to_options(ForgeOptions{.budget = {.seconds = 60}});
    ASSERT_TRUE(records->begin(run));
    Attempt attempt{.number = 1};
    ASSERT_TRUE(records->save_proposal(run_, attempt));
    set_source(attempt, kHostile);
    attempt.generation->change = attempt.generation->generator = attempt.generation->rationale = kHostile;
    ASSERT_TRUE(records->save_generation(run_, attempt));
  }
  // As the process that works on it does.
  void hold_run() { lock_ = std::move(*(*RunRecords::open())->hold(run_)); }
  void judge_attempt() {
    auto records = *RunRecords::open();
    Attempt attempt = records->attempts(run_)->at(0);
    attempt.judgement = AttemptJudgement{.time_ns = 1e6, .speedup = Speedup{{2, 1.9, 2.1}, kHostile}};
    attempt.judgement->clock = 12;
    attempt.decision = Decision{true, true};
    ASSERT_TRUE(records->save_judgement(run_, attempt));
  }
};

}  // namespace kforge::serve
