// Maps every instance of every tensor between two stretches of inaccessible addresses, so that a candidate
// that reads or writes past an end is caught at the instruction that does it.
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/runner_state.h"

namespace kforge::runner {
namespace {

constexpr size_t kPage = 4096;

bool plausible(const KforgeArgumentRow& row, uint32_t slots, const size_t arena_bytes[3]) {
  if (row.arena > KFORGE_ARENA_OUTPUTS) return false;
  size_t size = arena_bytes[row.arena];
  if (row.offset % kPage || row.stride % kPage || row.pages_bytes % kPage) return false;
  if (row.pages_bytes > size || row.offset > size - row.pages_bytes) return false;
  if (row.stride && (slots - 1) > (size - row.pages_bytes - row.offset) / row.stride) return false;
  return row.data_offset <= row.pages_bytes && row.data_bytes <= row.pages_bytes - row.data_offset;
}

bool map_argument(Argument& argument, int fd) {
  const KforgeArgumentRow& row = argument.row;
  bool shares_one_instance = row.stride == 0;  // params
  argument.slots = shares_one_instance ? 1 : runner_state.slot_count;
  argument.region_bytes = argument.slots * argument.step() + kGuardBytes;
  void* region =
      mmap(nullptr, argument.region_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) return false;
  argument.region = static_cast<char*>(region);
  int access = row.arena == KFORGE_ARENA_OUTPUTS ? PROT_READ | PROT_WRITE : PROT_READ;
  for (uint32_t slot = 0; slot < argument.slots && row.pages_bytes; ++slot) {
    // Populated now: the first timed call must not pay for page faults.
    void* at = mmap(argument.pages(slot), row.pages_bytes, access, MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd,
                    static_cast<off_t>(row.offset + slot * row.stride));
    if (at == MAP_FAILED) return false;
  }
  return true;
}

void unmap_all() {
  for (uint32_t i = 0; i < runner_state.argument_count; ++i) {
    Argument& argument = runner_state.arguments[i];
    if (argument.region) munmap(argument.region, argument.region_bytes);
    argument = Argument{};
  }
  runner_state.argument_count = runner_state.slot_count = 0;
}

// Null, or what is wrong.
const char* map_all(const Packet& packet) {
  uint32_t counts[2];
  if (packet.fd_count != 3) return "set-up needs three shared-memory files";
  if (packet.head.payload < sizeof counts) return "set-up message too short";
  memcpy(counts, packet.payload, sizeof counts);
  if (counts[0] > KFORGE_MAX_ARGUMENTS || counts[1] == 0 || counts[1] > KFORGE_MAX_SLOTS)
    return "too many arguments or slots";
  if (packet.head.payload != sizeof counts + counts[0] * sizeof(KforgeArgumentRow))
    return "set-up message has a wrong size";
  size_t arena_bytes[3];
  for (int i = 0; i < 3; ++i) {
    struct stat info;
    if (fstat(packet.fds[i], &info) != 0) return "a shared-memory file is unusable";
    arena_bytes[i] = static_cast<size_t>(info.st_size);
  }
  runner_state.slot_count = counts[1];
  for (uint32_t i = 0; i < counts[0]; ++i) {
    Argument& argument = runner_state.arguments[i];
    memcpy(&argument.row, packet.payload + sizeof counts + i * sizeof argument.row, sizeof argument.row);
    if (!plausible(argument.row, runner_state.slot_count, arena_bytes))
      return "a tensor lies outside its arena";
    runner_state.argument_count = i + 1;
    if (!map_argument(argument, packet.fds[argument.row.arena])) return "cannot map a tensor: ";
  }
  return nullptr;
}

}  // namespace

void set_up(const Packet& packet) {
  unmap_all();
  const char* problem = map_all(packet);
  int error = errno;
  for (int i = 0; i < packet.fd_count; ++i) close(packet.fds[i]);  // the candidate gets no descriptor of them
  if (problem) return send_error(problem, problem[strlen(problem) - 1] == ' ' ? strerror(error) : "");
  send_done(0, 0);
}

}  // namespace kforge::runner
