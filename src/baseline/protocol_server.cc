#include "baseline/protocol_server.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace kforge {
namespace {

static_assert(KFORGE_MAX_PACKET >= sizeof(KforgeMessage) + KFORGE_MAX_SLOTS * sizeof(std::uint32_t));
constexpr std::size_t kLongestText = 8000;

struct Packet {
  KforgeMessage header{};
  std::vector<std::byte> payload;
  Fd files[3];
};

std::uint64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

void take_files(msghdr& message, Packet& packet) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      if (i < 3)
        packet.files[i].reset(fd);
      else
        ::close(fd);
    }
  }
}

// Nothing when the parent closed the channel.
Result<std::optional<Packet>> receive(int fd) {
  static std::array<std::byte, KFORGE_MAX_PACKET> buffer;  // pages that no packet reaches are never touched
  alignas(cmsghdr) char control[CMSG_SPACE(3 * sizeof(int))];
  iovec piece{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got;
  do got = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got < 0) return fail("cannot receive from the parent: {}", std::strerror(errno));
  if (got == 0) return std::optional<Packet>();
  Packet packet;
  take_files(message, packet);
  if (static_cast<std::size_t>(got) < sizeof packet.header || (message.msg_flags & MSG_TRUNC))
    return fail("a packet of {} bytes does not fit the protocol", got);
  std::memcpy(&packet.header, buffer.data(), sizeof packet.header);
  packet.payload.assign(buffer.begin() + sizeof packet.header, buffer.begin() + got);
  if (packet.payload.size() != packet.header.payload)
    return fail("a packet says {} bytes of payload and has {}", packet.header.payload, packet.payload.size());
  return std::optional<Packet>(std::move(packet));
}

bool reply(int fd, KforgeMessageType type, std::uint64_t value, std::uint64_t nanoseconds,
           std::string_view text = {}) {
  text = text.substr(0, kLongestText);
  KforgeMessage header{type, static_cast<std::uint32_t>(text.size()), value, nanoseconds};
  iovec pieces[2] = {{&header, sizeof header}, {const_cast<char*>(text.data()), text.size()}};
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = text.empty() ? 1 : 2;
  ssize_t sent;
  do sent = ::sendmsg(fd, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent >= 0;
}

Result<std::unique_ptr<ArgumentTable>> set_up(Packet& packet) {
  std::uint32_t counts[2];
  if (packet.payload.size() < sizeof counts) return fail("the set-up message is too short");
  std::memcpy(counts, packet.payload.data(), sizeof counts);
  if (counts[0] > KFORGE_MAX_ARGUMENTS ||
      packet.payload.size() != sizeof counts + counts[0] * sizeof(KforgeArgumentRow))
    return fail("the set-up message has {} arguments and {} bytes", counts[0], packet.payload.size());
  std::vector<KforgeArgumentRow> rows(counts[0]);
  if (!rows.empty())
    std::memcpy(rows.data(), packet.payload.data() + sizeof counts, rows.size() * sizeof rows[0]);
  KF_TRY(ArgumentTable table, ArgumentTable::map(counts[1], std::move(rows), packet.files));
  return std::make_unique<ArgumentTable>(std::move(table));
}

Result<void> call_slots(ServedProgram& program, const ArgumentTable& arguments, const Packet& packet) {
  for (std::size_t at = 0; at + sizeof(std::uint32_t) <= packet.payload.size(); at += sizeof(std::uint32_t)) {
    std::uint32_t slot;
    std::memcpy(&slot, packet.payload.data() + at, sizeof slot);
    if (slot >= arguments.slots()) return fail("slot {} of {} was asked for", slot, arguments.slots());
    KF_TRY_VOID(program.call(slot));
  }
  return {};
}

}  // namespace

Result<ArgumentTable> ArgumentTable::map(std::uint32_t slots, std::vector<KforgeArgumentRow> rows,
                                         Fd files[3]) {
  ArgumentTable table;
  table.slots_ = slots;
  table.rows_ = std::move(rows);
  for (int arena = 0; arena < 3; ++arena) {
    struct stat info {};
    if (!files[arena].valid() || ::fstat(files[arena].get(), &info) != 0)
      return fail("the set-up message came without arena {}", arena);
    KF_TRY(table.arenas_[arena], Mapping::map(files[arena].get(), static_cast<std::size_t>(info.st_size),
                                              arena == KFORGE_ARENA_OUTPUTS));
  }
  for (const KforgeArgumentRow& row : table.rows_) {
    std::uint64_t last = row.offset + (row.is_param || slots == 0 ? 0 : (slots - 1) * row.stride);
    if (row.arena > 2 || last + row.data_offset + row.data_bytes > table.arenas_[row.arena].size())
      return fail("an argument lies outside its arena");
  }
  return table;
}

std::byte* ArgumentTable::data(std::size_t argument, std::uint32_t slot) const {
  const KforgeArgumentRow& row = rows_[argument];
  return arenas_[row.arena].data() + row.offset + slot * row.stride + row.data_offset;
}

int serve_program(ServedProgram& program, int fd) {
  if (!reply(fd, KFORGE_READY, KFORGE_PROTOCOL_VERSION, 0)) return 1;
  std::unique_ptr<ArgumentTable> arguments;
  bool prepared = false;
  while (true) {
    auto received = receive(fd);
    if (!received) {
      reply(fd, KFORGE_ERROR, 0, 0, received.error().text());
      return 1;
    }
    if (!*received) return 0;  // the parent is gone
    Packet& packet = **received;
    Result<void> outcome;
    std::uint64_t value = 0, start = now_ns();
    switch (packet.header.type) {
      case KFORGE_SETUP: {
        auto table = set_up(packet);
        if (table)
          arguments = std::move(*table);
        else
          outcome = std::unexpected(table.error());
        break;
      }
      case KFORGE_LOAD:
        outcome = arguments ? program.load(*arguments) : Result<void>(fail("load before set-up"));
        value = KFORGE_HAS_PREPARE;
        break;
      case KFORGE_PREPARE:
        outcome = arguments ? program.prepare() : Result<void>(fail("prepare before set-up"));
        prepared = outcome.has_value();
        break;
      case KFORGE_CALL:
        outcome =
            prepared ? call_slots(program, *arguments, packet) : Result<void>(fail("call before prepare"));
        break;
      case KFORGE_EXIT:
        return 0;
      default:
        outcome = fail("message type {} is unknown", packet.header.type);
    }
    std::uint64_t took = now_ns() - start;
    bool sent = outcome ? reply(fd, KFORGE_DONE, value, took)
                        : reply(fd, KFORGE_ERROR, 0, took, outcome.error().text());
    if (!sent) return 1;
  }
}

}  // namespace kforge
