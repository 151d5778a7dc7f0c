// The profile of an attempt's program, for the analyst.
#include "forge/run_state.h"
#include "judge/program.h"
#include "profile/profile_candidate.h"

namespace kforge {
namespace {

constexpr double kLongRace = 120;  // seconds

bool finds_hot_loop(const Profiler& profiler) {
  return profiler.parser == "samples" || profiler.parser == "hot_loop";
}

}  // namespace

Result<Profile> profile_of(ForgeState& s, int number) {
  const Attempt* attempt = s.attempts->history().find(number);
  KF_CHECK(attempt && attempt->program(), "attempt {} to profile is not there", number);
  KF_TRY(auto recorded, s.records->profile(s.record.id, number));
  if (recorded) return std::move(*recorded);
  const bool figures = !s.options.without.contains("profile"),
             // Rules go by the figures alone.
      hot_loop = !s.options.without.contains("assembly") && !s.agents.models.empty();
  if (!figures && !hot_loop) return Profile{};
  if (s.races) s.races->pause();
  s.view().stage("profiling");
  KF_TRY(auto built, build_program(*s.workspace, *attempt->program(), s.workspace->setup().bound(0)));
  if (!built) return fail("attempt {} does not compile any more: {}", number, reason_text(built.error()));
  ProfileInput input;
  input.task = &s.workspace->setup().bound(0);
  input.platform = &s.workspace->setup().platform;
  input.machine = &s.workspace->setup().machine;
  input.peaks = s.context.peaks;
  input.candidate = attempt->program();
  input.build = &*built;
  input.tier = s.workspace->setup().tier;
  input.threads = s.workspace->setup().threads;
  input.allow_libraries = s.options.session.allow_libraries;
  input.time_ns = attempt->judgement->time_ns;
  input.cold = s.options.session.cold;
  input.thread_use = attempt->judgement->thread_use;
  if (figures) input.also = s.options.profilers;
  input.without = s.options.without;
  // In a short race seconds are better spent on programs than on looking at one closely.
  if (s.races && s.options.budget.seconds.value_or(0) < kLongRace)
    for (const Profiler& profiler : s.workspace->setup().platform.profilers)
      if (profiler.name != "roofline") input.without.insert(profiler.name);
  if (!figures)
    for (const Profiler& profiler : s.workspace->setup().platform.profilers)
      if (!finds_hot_loop(profiler)) input.without.insert(profiler.name);
  input.progress = [&s](std::string_view profiler) { s.view().advance(0, profiler); };
  input.stop = [&s] { return s.stopped(); };
  Profile profile = profile_candidate(input);
  if (!figures) profile.facts.clear(), profile.pictures.clear(), profile.absent.clear();
  std::erase_if(profile.texts,
                [&](const ProfileText& text) { return text.title == kHotLoopTitle ? !hot_loop : !figures; });
  // A profile that was cut short is not what a resumed run should go by.
  if (!s.stopped()) KF_TRY_VOID(s.records->save_profile(s.record.id, number, profile));
  return profile;
}

}  // namespace kforge
