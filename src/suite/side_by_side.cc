#include "suite/side_by_side.h"

#include <algorithm>
#include <map>
#include <set>

namespace kforge {
namespace {

// Baselines that every side was timed against.
std::set<std::string> shared_baselines(const std::vector<Side>& sides) {
  std::map<std::string, std::size_t> seen_by;
  for (const Side& side : sides) {
    std::set<std::string> own;
    for (const SuiteRecord& record : side.records)
      for (const BaselineRatio& baseline : record.baselines)
        if (baseline.speedup) own.insert(baseline.name);
    for (const std::string& name : own) ++seen_by[name];
  }
  std::set<std::string> shared;
  for (const auto& [name, sides_with_it] : seen_by)
    if (sides_with_it == sides.size()) shared.insert(name);
  return shared;
}

SideRow row_of(const std::vector<Side>& sides, const std::string& title, std::string_view baseline) {
  SideRow row{title, {}};
  for (const Side& side : sides) row.scores.push_back(score_against(side.records, baseline));
  return row;
}

// What every side has finished, without problems that any of them flags.
std::set<std::string> common_tasks(const std::vector<Side>& sides) {
  std::map<std::string, std::size_t> finished;
  std::set<std::string> flagged, common;
  for (const Side& side : sides)
    for (const SuiteRecord& record : side.records) {
      ++finished[record.task];
      if (!record.flagged().empty()) flagged.insert(record.task);
    }
  for (const auto& [task, count] : finished)
    if (count == sides.size() && !flagged.contains(task)) common.insert(task);
  return common;
}

const SuitePart* part_on(const SuiteReport& report, const std::string& platform) {
  auto found = std::ranges::find_if(report.parts, [&](const SuitePart& part) {
    return part.platform == platform && part.variant == report.plan.variants.front().name;
  });
  return found == report.parts.end() ? nullptr : &*found;
}

std::string side_name(const SuiteReport& report, const SuitePart& part) {
  return fmt::format("{} on {}", report.plan.id, part.platform);
}

}  // namespace

SideBySide side_by_side(std::vector<Side> sides) {
  const std::set<std::string> common = common_tasks(sides);
  std::set<std::string> all;
  SideBySide found;
  for (Side& side : sides) {
    for (const SuiteRecord& record : side.records) all.insert(record.task);
    std::erase_if(side.records, [&](const SuiteRecord& record) { return !common.contains(record.task); });
    std::ranges::stable_sort(side.records, {}, &SuiteRecord::task);
  }
  found.sides = std::move(sides);
  found.left_out = all.size() - common.size();
  found.rows.push_back(row_of(found.sides, kFastestPresent, ""));
  for (const std::string& name : shared_baselines(found.sides))
    found.rows.push_back(row_of(found.sides, name, name));
  return found;
}

std::vector<SideDifference> differences(const SideBySide& both) {
  std::vector<SideDifference> found;
  const auto &a = both.sides[0].records, &b = both.sides[1].records;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].verified() != b[i].verified()) {
      found.push_back({a[i].task, &a[i], &b[i], a[i].verified()});
      continue;
    }
    if (!a[i].speedup || !b[i].speedup || a[i].speedup->against != b[i].speedup->against) continue;
    if (a[i].speedup->lo > b[i].speedup->hi || b[i].speedup->lo > a[i].speedup->hi)
      found.push_back({a[i].task, &a[i], &b[i], a[i].speedup->lo > b[i].speedup->hi});
  }
  return found;
}

std::vector<SideBySide> ablation_sides(const SuiteReport& report) {
  std::vector<SideBySide> found;
  if (report.plan.variants.size() < 2) return found;
  for (const std::string& platform : report.plan.platforms) {
    std::vector<Side> sides;
    for (const SuitePart& part : report.parts)
      if (part.platform == platform)
        sides.push_back({part.variant.empty() ? "with everything" : part.variant, part.records});
    found.push_back(side_by_side(std::move(sides)));
  }
  return found;
}

Result<SideBySide> compare_suites(const SuiteReport& a, const SuiteReport& b) {
  const SuitePart *from_a = &a.parts.front(), *from_b = &b.parts.front();
  for (const std::string& platform : a.plan.platforms)
    if (const SuitePart* other = part_on(b, platform)) {
      from_a = part_on(a, platform);
      from_b = other;
      break;
    }
  SideBySide both =
      side_by_side({{side_name(a, *from_a), from_a->records}, {side_name(b, *from_b), from_b->records}});
  if (both.sides.front().records.empty())
    return fail("suites {} and {} have no finished task in common that is not flagged", a.plan.id, b.plan.id);
  return both;
}

}  // namespace kforge
