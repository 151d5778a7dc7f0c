#include "copies.h"

#include <stdlib.h>
#include <string.h>

#include "checks.h"

namespace kfe {

void Copies::add(Copy copy) {
  copy.group = open_;
  checks::copy_asked(copy);  // does not return where it may not be made
  if (count_ == room_) {
    room_ = room_ ? 2 * room_ : 16;
    list_ = static_cast<Copy*>(realloc(list_, room_ * sizeof(Copy)));
    if (!list_) abort();
  }
  list_[count_++] = copy;
}

void Copies::make_until(uint32_t group, bool ends) {
  uint32_t done = 0;
  while (done < count_ && list_[done].group < group) {
    const Copy& copy = list_[done++];
    checks::copy_made(copy, ends);
    memcpy(copy.to, copy.from, copy.given);
    memset(copy.to + copy.given, 0, copy.bytes - copy.given);
  }
  count_ -= done;
  if (done) memmove(list_, list_ + done, count_ * sizeof(Copy));
}

void Copies::wait(uint32_t left) {
  if (left < open_) make_until(open_ - left, false);
}

void Copies::finish(bool ends) {
  make_until(~0u, ends);
  open_ = 0;
}

void Copies::release() { free(list_); }

}  // namespace kfe

extern "C" {
void kfe_copy_async(void* to, const void* from, kfe_u32 bytes, kfe_u32 given) {
  kfe::this_worker->copies().add({static_cast<char*>(to), static_cast<const char*>(from), bytes,
                                  given < bytes ? given : bytes, 0,
                                  reinterpret_cast<uintptr_t>(__builtin_return_address(0))});
}
void kfe_copy_commit() { kfe::this_worker->copies().commit(); }
void kfe_copy_wait(kfe_u32 left) { kfe::this_worker->copies().wait(left); }
void kfe_copy_wait_all() { kfe::this_worker->copies().finish(false); }
}
