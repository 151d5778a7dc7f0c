// kforge: see cli/commands.cc for the commands and forge/evaluate.cc for what `kforge eval` does.
#include "base/memory.h"
#include "cli/commands.h"

int main(int argc, char** argv) {
  kforge::keep_freed_memory();
  return kforge::run_cli(argc, argv);
}
