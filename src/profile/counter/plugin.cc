// kforge-count.so: counts the instructions of one call of a kernel under qemu-user, and writes the number to
// a file when the program ends: -plugin kforge-count.so,out=FILE. What counts is what lies between the two
// marks that kforge-call sets; a program that sets more of them gets no figure. Counts of one thread are
// exact.
//
// Debian has no header of the plugin interface: these are its declarations, of version 1.
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profile/caller/plan.h"

extern "C" {

using PluginId = uint64_t;
struct qemu_info_t;
struct qemu_plugin_tb;  // a block of translated instructions
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
using SystemCallback = void (*)(PluginId id, unsigned processor, int64_t number, uint64_t a1, uint64_t a2,
                                uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);

void qemu_plugin_register_vcpu_tb_trans_cb(PluginId id, void (*callback)(PluginId, qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_inline(qemu_plugin_tb* block, qemu_plugin_op op, void* to,
                                              uint64_t by);
size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb* block);
void qemu_plugin_register_vcpu_syscall_cb(PluginId id, SystemCallback callback);
void qemu_plugin_register_atexit_cb(PluginId id, void (*callback)(PluginId, void*), void* data);

[[gnu::visibility("default")]] extern const int qemu_plugin_version;
const int qemu_plugin_version = 1;
}

namespace {

uint64_t executed =
    0;  // since the start; a block counts when it is entered, and a system call ends its block
uint64_t at_mark[2] = {};
int marks = 0;
int file = -1;

void on_block(PluginId, qemu_plugin_tb* block) {
  qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, &executed,
                                           qemu_plugin_tb_n_insns(block));
}

void on_system_call(PluginId, unsigned, int64_t, uint64_t first, uint64_t, uint64_t, uint64_t, uint64_t,
                    uint64_t, uint64_t, uint64_t) {
  if (first != kforge::caller::kMark) return;
  if (marks < 2) at_mark[marks] = executed;
  ++marks;
}

void on_exit(PluginId, void*) {
  char text[32];
  int length = 0;
  if (marks == 2)
    length = snprintf(text, sizeof text, "%llu\n", static_cast<unsigned long long>(at_mark[1] - at_mark[0]));
  // What the program itself may have written there is overwritten.
  if (ftruncate(file, 0) == 0 && pwrite(file, text, static_cast<size_t>(length), 0) == length) close(file);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int qemu_plugin_install(PluginId id, const qemu_info_t*, int argc,
                                                                  char** argv) {
  for (int i = 0; i < argc; ++i)
    if (!strncmp(argv[i], "out=", 4)) file = open(argv[i] + 4, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return -1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
  qemu_plugin_register_vcpu_syscall_cb(id, on_system_call);
  qemu_plugin_register_atexit_cb(id, on_exit, nullptr);
  return 0;
}
