// What was started from pages: the list, one job while it runs, and the way to stop it.
#include "base/readable.h"
#include "report/page_room.h"
#include "serve/page.h"
#include "serve/site.h"

namespace kforge::serve {
namespace {

Answer no_jobs(const Asked& asked) {
  return refusal(asked, 404, "Nothing is started from here", "The server was started with --read-only.");
}

PageData job_data(const JobView& job) {
  PageData data;
  data.text("state", job.state()).text("seconds", fmt::format("{:.0f} s", job.seconds));
  data.text("outcome", job.outcome).text("job_run", job.run).text("job_result", job.result);
  data.text("doing", short_line(job.doing, 300));
  return data;
}

}  // namespace

Answer jobs_page(const Asked& asked, Site& site) {
  if (!site.jobs) return no_jobs(asked);
  ListView view{.section = "jobs", .title = "Jobs", .schema = "kforge.jobs/1", .records = "jobs"};
  view.about = "Searches and evaluations that were started from these pages since the server was.";
  view.columns = {{"job"},
                  {"what", "kind"},
                  {"task", "task"},
                  {"platform", "platform"},
                  {"state", "state"},
                  {"for", "seconds", true, true},
                  {"run or result"},
                  {"outcome"}};
  view.empty = "Nothing was started from these pages yet: the page start has the forms.";
  for (const JobView& job : site.jobs->all())
    view.rows.push_back({{{job.id, "/jobs/" + job.id},
                          {job.kind},
                          {job.task},
                          {job.platform},
                          {job.state(), "", job.state()},
                          {fmt::format("{:.0f} s", job.seconds), "", "", job.seconds},
                          {job.run.empty() ? job.result : job.run,
                           !job.run.empty()      ? "/runs/" + address_word(job.run)
                           : !job.result.empty() ? "/results/" + address_word(job.result)
                                                 : ""},
                          {job.outcome}},
                         to_json(job)});
  return list_page(asked, std::move(view));
}

Answer job_page(const Asked& asked, Site& site) {
  if (!site.jobs) return no_jobs(asked);
  auto job = site.jobs->view(asked.parts[0]);
  if (!job) return not_found(asked, job.error());
  if (asked.json) {
    Json document{{"schema", "kforge.job/1"}};
    document.update(to_json(*job));
    return json_answer(document);
  }
  PageData data = job_data(*job);
  add_frame(data, asked, fmt::format("{} {}", job->kind, job->task), "jobs");
  data.text("job", job->id).text("kind", job->kind).text("task", job->task).text("platform", job->platform);
  data.text("is_live", job->ended ? "" : "yes").text("started_at", job->started_at);
  return page(asked, "job", data);
}

Answer job_events(const Asked& asked, Site& site) {
  static constexpr std::chrono::milliseconds kEvery{500};
  if (!site.jobs) return no_jobs(asked);
  if (auto job = site.jobs->view(asked.parts[0]); !job) return not_found(asked, job.error());
  Answer answer{.type = "text/event-stream"};
  answer.stream = [&site, id = asked.parts[0]](Sink& sink, const std::stop_token& stop) {
    std::string before;
    while (!stop.stop_requested() && sink.open()) {
      auto job = site.jobs->view(id);
      if (!job) return;
      auto html = render_page("serve/job_live", job_data(*job));
      if (html && *html != before) {
        before = *html;
        if (!sink.write("event: part\ndata: " + Json{{"id", "job-live"}, {"html", *html}}.dump() + "\n\n"))
          return;
      }
      // A search has a page of its own as soon as it has a name.
      if (!job->ended && !job->run.empty()) {
        sink.write("event: go\ndata: " + Json{{"address", "/runs/" + address_word(job->run)}}.dump() +
                   "\n\n");
        return;
      }
      if (job->ended) {
        sink.write("event: end\ndata: {}\n\n");
        return;
      }
      std::this_thread::sleep_for(kEvery);
    }
  };
  return answer;
}

Answer stop_job(const Asked& asked, Site& site) {
  if (!site.jobs) return no_jobs(asked);
  auto stopped = site.jobs->stop(asked.parts[0]);
  if (!stopped) return not_found(asked, stopped.error());
  if (asked.json) return job_page(asked, site);
  return go_to("/jobs/" + address_word(asked.parts[0]));
}

}  // namespace kforge::serve
