// The control socket: one packet per message.
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <initializer_list>

#include "runner/runner_state.h"

namespace kforge::runner {
namespace {

// Pages that no packet reaches are never touched.
alignas(16) unsigned char buffer[KFORGE_MAX_PACKET];
static_assert(sizeof buffer >= sizeof(KforgeMessage) + KFORGE_MAX_SLOTS * sizeof(uint32_t));

void take_descriptors(msghdr& message, Packet& packet) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      if (packet.fd_count < 3)
        packet.fds[packet.fd_count++] = fd;
      else
        close(fd);
    }
  }
}

}  // namespace

void send_message(uint32_t type, uint64_t value, uint64_t nanoseconds, const void* payload, uint32_t bytes) {
  KforgeMessage head{type, bytes, value, nanoseconds};
  iovec parts[2] = {{&head, sizeof head}, {const_cast<void*>(payload), bytes}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = bytes ? 2 : 1;
  while (sendmsg(KFORGE_CONTROL_FD, &message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

void send_done(uint64_t value, uint64_t nanoseconds) { send_message(KFORGE_DONE, value, nanoseconds); }

void send_error(const char* first, const char* second) {
  char text[4096];
  size_t length = 0;
  for (const char* piece : {first, second}) {
    while (*piece && length < sizeof text) text[length++] = *piece++;
  }
  send_message(KFORGE_ERROR, 0, 0, text, static_cast<uint32_t>(length));
}

bool receive_packet(Packet& packet) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 8)];
  for (;;) {
    iovec part{buffer, sizeof buffer};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t got = recvmsg(KFORGE_CONTROL_FD, &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    packet.fd_count = 0;
    take_descriptors(message, packet);
    if (static_cast<size_t>(got) < sizeof(KforgeMessage) || (message.msg_flags & MSG_TRUNC)) {
      send_error("malformed message");
      continue;
    }
    memcpy(&packet.head, buffer, sizeof packet.head);
    packet.payload = buffer + sizeof packet.head;
    if (packet.head.payload != static_cast<size_t>(got) - sizeof packet.head) {
      send_error("malformed message: wrong payload size");
      continue;
    }
    return true;
  }
}

}  // namespace kforge::runner
