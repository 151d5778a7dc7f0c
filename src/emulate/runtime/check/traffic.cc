#include "traffic.h"

#include <string.h>

#include <algorithm>
#include <vector>

#include "findings.h"

namespace kfe::check {
namespace {

constexpr uint64_t kBlocks = 4;     // looked at, of each launch
constexpr uint32_t kWarps = 2;      // of each of them
constexpr size_t kMost = 1u << 20;  // accesses kept for a block
constexpr uint32_t kSector = 32, kBanks = 32, kBank = 4;

struct Entry {
  uint32_t place, order, warp, lane, size;
  uint64_t address;
  bool write, shared;
};
std::vector<Entry>* entries __attribute__((section("kfe_state")));

KfeTraffic* row_of(const Entry& entry) {
  KfeReport& report = state().report;
  for (uint32_t i = 0; i < report.traffics; ++i)
    if (report.traffic[i].offset == entry.place && report.traffic[i].is_write == entry.write)
      return &report.traffic[i];
  if (report.traffics == KFE_MAX_TRAFFIC) return nullptr;
  KfeTraffic& made = report.traffic[report.traffics++];
  made.offset = entry.place;
  made.is_shared = entry.shared;
  made.is_write = entry.write;
  made.size = entry.size;
  strncpy(made.kernel, state().step->name, sizeof made.kernel - 1);
  return &made;
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
void add_passes(const Entry* first, const Entry* last, KfeTraffic& row) {
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
    row.requests += 1;
    row.units += passes;
    row.lanes += static_cast<uint64_t>(to - from) * KFE_LANES / lanes_at_once;
    from = to;
  }
}

}  // namespace

void traffic_begins(Worker&) {
  if (!entries) entries = new std::vector<Entry>;
  entries->clear();
}

void traffic_access(Worker& worker, uint32_t place, uintptr_t address, uint32_t size, bool write,
                    bool shared) {
  const uint32_t warp = worker.current_number() / KFE_LANES;
  if (worker.block_number() >= kBlocks || warp >= kWarps || entries->size() >= kMost) return;
  entries->push_back({place, static_cast<uint32_t>(entries->size()), warp,
                      worker.current_number() % KFE_LANES, size, address, write, shared});
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
  for (const Entry* first = entries->data(); first != end;) {
    const Entry* last = first;
    while (last != end && same_stream(*first, *last) && last->order == first->order) ++last;
    if (KfeTraffic* row = row_of(*first)) {
      if (first->shared) {
        add_passes(first, last, *row);
      } else {
        row->requests += 1;
        row->units += sectors_of(first, last);
        row->lanes += static_cast<uint64_t>(last - first);
      }
    }
    first = last;
  }
}

}  // namespace kfe::check
