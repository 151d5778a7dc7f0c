// What else the machine did while something was measured.
#pragma once

#include <string>

namespace kforge {

struct MachineLoad {
  double disturbed = 0;      // share of rounds in which a program was ready to run and no processor was free
  double steal = 0;          // share of the processors' time that the hypervisor gave to others
  double run_queue = 0;      // other threads that were ready to run, on average
  double calibration = 0;    // (q3 - q1) / median of a fixed piece of arithmetic, done once a round
  bool rounds_lost = false;  // too few rounds were undisturbed: the disturbed ones count too

  // What was measured says less than it would on a quiet machine.
  bool busy() const;
  // "the machine was busy: 83 % of the rounds disturbed, 4.0 others ready to run"; "" for a quiet one.
  std::string words() const;
};

}  // namespace kforge
