// The sectors that a block touches of each memory, one bit for each.
#include <string.h>
#include <sys/mman.h>

#include <vector>

#include "findings.h"
#include "sample.h"

namespace kfe::check {
namespace {

constexpr uint32_t kMostUsed = 256;
constexpr uint64_t kUseSector = 32;

struct UseBits {
  const char* name;
  uint64_t bytes, mapped;
  uint64_t* word[2];  // read, written
};
struct Touched {
  uint32_t region, write;
  uint64_t word;
};
UseBits bits[kMostUsed] __attribute__((section("kfe_state")));
std::vector<Touched>* touched __attribute__((section("kfe_state")));

KfeUse* row_of(const UseBits& of) {
  KfeReport& report = state().report;
  for (uint32_t i = 0; i < report.uses; ++i)
    if (report.use[i].launch == launch_row() &&
        strncmp(report.use[i].name, of.name, sizeof report.use[i].name - 1) == 0)
      return &report.use[i];
  if (report.uses == KFE_MAX_USES) {
    report.overflowed = 1;
    return nullptr;
  }
  KfeUse& made = report.use[report.uses++];
  memset(&made, 0, sizeof made);
  made.launch = launch_row();
  strncpy(made.name, of.name, sizeof made.name - 1);
  made.bytes = of.bytes;
  return &made;
}

}  // namespace

void use_memory(uint32_t region, const char* name, uint64_t bytes) {
  if (!kfe_counts) return;
  if (!touched) touched = new std::vector<Touched>;
  UseBits& one = bits[region];
  const uint64_t needed = (bytes / kUseSector / 64 + 1) * sizeof(uint64_t);
  one.name = name;
  one.bytes = bytes;
  if (needed <= one.mapped) return;  // all bits are zero between blocks
  for (uint64_t*& word : one.word) {
    if (word) munmap(word, one.mapped);
    void* made =
        mmap(nullptr, needed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    word = made == MAP_FAILED ? nullptr : static_cast<uint64_t*>(made);
  }
  one.mapped = needed;
}

void use_access(uint32_t region, uint64_t offset, uint64_t size, bool write) {
  if (!kfe_counts || block_weight() <= 0) return;
  uint64_t* words = bits[region].word[write];
  if (!words) return;
  for (uint64_t sector = offset / kUseSector; sector <= (offset + size - 1) / kUseSector; ++sector) {
    uint64_t& word = words[sector / 64];
    if (!word) touched->push_back({region, write, sector / 64});
    word |= uint64_t{1} << sector % 64;
  }
}

void use_block_ends() {
  if (!kfe_counts || !touched) return;
  for (const Touched& one : *touched) {
    uint64_t& word = bits[one.region].word[one.write][one.word];
    if (KfeUse* row = row_of(bits[one.region]))
      (one.write ? row->written_bytes : row->read_bytes) +=
          block_weight() *
          static_cast<double>(kUseSector * static_cast<uint64_t>(__builtin_popcountll(word)));
    word = 0;
  }
  touched->clear();
}

}  // namespace kfe::check
