// Watches what else the machine does while something is measured.
#pragma once

#include <cstdint>
#include <vector>

#include "base/machine_load.h"

namespace kforge {

class LoadWatch {
 public:
  LoadWatch();
  // Between two samples, while the programs are stopped: who else is ready to run, and how long a fixed piece
  // of arithmetic takes.
  void look();
  // Since it was made; `disturbed` and `rounds_lost` are for whoever knows the rounds.
  MachineLoad load() const;

 private:
  struct CpuTicks {
    std::uint64_t steal = 0, all = 0;
  };
  static CpuTicks cpu_ticks();

  CpuTicks start_;
  double ready_ = 0;
  int looks_ = 0;
  std::vector<double> arithmetic_ns_;
};

}  // namespace kforge
