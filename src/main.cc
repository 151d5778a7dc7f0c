// kforge: see cli/commands.cc for the commands and forge/evaluate.cc for what `kforge eval` does.
#include "cli/commands.h"

int main(int argc, char** argv) { return kforge::run_cli(argc, argv); }
