// Parts that the pages of runs and of results have in common. Each fills in the names its template reads.
#pragma once

#include <string>

#include "generate/candidate.h"
#include "profile/profile.h"
#include "report/page_room.h"
#include "report/page_template.h"
#include "store/eval_report.h"

namespace kforge {

// The width of a page's drawings and of a phone's.
inline constexpr double kPagePixels = 896, kPhonePixels = 340;
// Side by side on a page.
inline constexpr double kHalfPixels = 436;

// A drawing for pages and one for phones; the style sheet shows the one that fits.
template <class Chart>
Markup both_widths(const Chart& chart, double page_pixels = kPagePixels) {
  return {"<div class=\"page\">" + draw(chart, page_pixels).text + "</div><div class=\"phone\">" +
          draw(chart, kPhonePixels).text + "</div>"};
}

// "20 us", for the ticks of an axis in nanoseconds.
std::string time_tick(double ns);
// "faster", "slower", "no_difference", "verified" or "failed": what the headline looks like.
std::string verdict_class(const EvalReport& report);
// A row {{name}} {{value}} of a list of facts; nothing where the value is empty.
void add_fact(PageData& data, const std::string& list, std::string_view name, std::string_view value);

// contenders.mustache: the kernel and its rivals, times with intervals, and what each one is.
void add_contenders(PageData& data, const EvalReport& report);
// gates.mustache: every gate with what it asks and what it saw.
void add_gates(PageData& data, const EvalReport& report, PageRoom& room);
// program.mustache: the files, the main one first and open.
void add_program(PageData& data, const Candidate& program, PageRoom& room);
// profile.mustache
void add_profile(PageData& data, const Profile& profile, PageRoom& room);
// Facts of the list `how`: compiler, threads, device, machine, versions, seeds.
void add_how(PageData& data, const EvalReport& report);

}  // namespace kforge
