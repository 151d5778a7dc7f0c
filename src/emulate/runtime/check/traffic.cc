#include "traffic.h"

#include <string.h>

#include <algorithm>
#include <vector>

#include "findings.h"
#include "sample.h"

namespace kfe::check {
namespace {

constexpr size_t kMostEntries = 8u << 20;  // accesses kept between two barriers of a block
constexpr uint32_t kSector = 32, kBanks = 32, kBank = 4;

struct Entry {
  uint32_t place, order, warp, lane, size;
  uint64_t address;
  bool write, atomic, shared;
};
std::vector<Entry>* entries __attribute__((section("kfe_state")));

KfeTraffic* row_of(const Entry& entry) {
  KfeReport& report = state().report;
  const uint32_t launch = launch_row();
  for (uint32_t i = 0; i < report.traffics; ++i) {
    KfeTraffic& row = report.traffic[i];
    if (row.offset == entry.place && row.is_write == entry.write && row.is_shared == entry.shared &&
        row.launch == launch)
      return &row;
  }
  if (report.traffics == KFE_MAX_TRAFFIC) {
    report.overflowed = 1;
    return nullptr;
  }
  KfeTraffic& made = report.traffic[report.traffics++];
  made.offset = entry.place;
  made.launch = launch;
  made.is_atomic = entry.atomic;
  made.is_shared = entry.shared;
  made.is_write = entry.write;
  made.size = entry.size;
  strncpy(made.kernel, state().step->name, sizeof made.kernel - 1);
  return &made;
}

// Atomics of one word are done one after the other, whatever else they share.
uint32_t turns_of(const Entry* first, const Entry* last) {
  std::vector<uint64_t> words;
  for (const Entry* e = first; e != last; ++e) words.push_back(e->address / kBank);
  std::sort(words.begin(), words.end());
  size_t most = 1, same = 1;
  for (size_t i = 1; i < words.size(); ++i) {
    same = words[i] == words[i - 1] ? same + 1 : 1;
    most = std::max(most, same);
  }
  return static_cast<uint32_t>(most);
}

uint32_t sectors_of(const Entry* first, const Entry* last) {
  std::vector<uint64_t> sectors;
  for (const Entry* e = first; e != last; ++e)
    for (uint64_t at = e->address / kSector; at <= (e->address + e->size - 1) / kSector; ++at)
      sectors.push_back(at);
  std::sort(sectors.begin(), sectors.end());
  return static_cast<uint32_t>(std::unique(sectors.begin(), sectors.end()) - sectors.begin());
}

// Lanes that read the same word share a pass; different words of one bank do not. Wide accesses go in parts
// of as many lanes as fill all banks.
void add_passes(const Entry* first, const Entry* last, double weight, KfeTraffic& row) {
  const uint32_t lanes_at_once = std::max(1u, kBanks * kBank / std::max(first->size, kBank));
  for (const Entry* from = first; from != last;) {
    const Entry* to = from;
    std::vector<uint64_t> words[kBanks];
    while (to != last && to->lane / lanes_at_once == from->lane / lanes_at_once) {
      for (uint64_t at = to->address / kBank; at <= (to->address + to->size - 1) / kBank; ++at) {
        auto& bank = words[at % kBanks];
        if (std::find(bank.begin(), bank.end(), at) == bank.end()) bank.push_back(at);
      }
      ++to;
    }
    size_t passes = 1;
    for (const auto& bank : words) passes = std::max(passes, bank.size());
    row.requests += weight;
    row.units += weight * static_cast<double>(passes);
    row.lanes += weight * static_cast<double>((to - from) * KFE_LANES / lanes_at_once);
    from = to;
  }
}

}  // namespace

void traffic_begins(Worker&) {
  if (!entries) entries = new std::vector<Entry>;
  entries->clear();
}

void traffic_access(Worker& worker, uint32_t place, uintptr_t address, uint32_t size, bool write, bool atomic,
                    bool shared) {
  if (warp_weight(worker.current_number() / KFE_LANES) <= 0) return;
  if (entries->size() >= kMostEntries) {
    state().report.overflowed = 1;
    return;
  }
  entries->push_back({place, static_cast<uint32_t>(entries->size()), worker.current_number() / KFE_LANES,
                      worker.current_number() % KFE_LANES, size, address, write, atomic, shared});
}

void traffic_ends(Worker&) {
  // The n-th time a lane comes by an instruction belongs to the n-th time of the other lanes.
  auto by_lane = [](const Entry& a, const Entry& b) {
    if (a.warp != b.warp) return a.warp < b.warp;
    if (a.place != b.place) return a.place < b.place;
    if (a.write != b.write) return a.write < b.write;
    return a.lane != b.lane ? a.lane < b.lane : a.order < b.order;
  };
  auto same_stream = [](const Entry& a, const Entry& b) {
    return a.warp == b.warp && a.place == b.place && a.write == b.write;
  };
  std::sort(entries->begin(), entries->end(), by_lane);
  uint32_t turn = 0;
  for (size_t i = 0; i < entries->size(); ++i) {
    Entry& entry = (*entries)[i];
    const bool goes_on =
        i > 0 && same_stream((*entries)[i - 1], entry) && (*entries)[i - 1].lane == entry.lane;
    turn = goes_on ? turn + 1 : 0;
    entry.order = turn;
  }
  std::sort(entries->begin(), entries->end(), [&](const Entry& a, const Entry& b) {
    if (!same_stream(a, b)) return by_lane(a, b);
    return a.order != b.order ? a.order < b.order : a.lane < b.lane;
  });
  const Entry* end = entries->data() + entries->size();
  KfeTraffic* row = nullptr;
  for (const Entry* first = entries->data(); first != end;) {
    const Entry* last = first;
    while (last != end && same_stream(*first, *last) && last->order == first->order) ++last;
    if (first == entries->data() || !same_stream(*(first - 1), *first)) row = row_of(*first);
    if (row) {
      const double weight = warp_weight(first->warp);
      if (first->shared && !first->atomic) {
        add_passes(first, last, weight, *row);
      } else {
        const uint32_t units = first->shared ? 0 : sectors_of(first, last);
        row->requests += weight;
        row->units += weight * std::max(units, first->atomic ? turns_of(first, last) : 0);
        row->lanes += weight * static_cast<double>(last - first);
      }
    }
    first = last;
  }
  entries->clear();
}

}  // namespace kfe::check
