// Runs the program of a command platform: for each run its files are put into an empty folder, the inputs of
// its calls into a sealed file; a second file has room for the outputs, and what the program left there is
// read with suspicion.
#pragma once

#include <expected>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "command/command_package.h"
#include "runner/protocol.h"

namespace kforge {

// The program's mistake, as KFORGE_FAILED tells it.
struct CommandFailure {
  KforgeFailedKind kind = KFORGE_FAILED_CRASH;
  std::string text;
};
template <class T>
using CommandStep = Result<std::expected<T, CommandFailure>>;

class CommandRun {
 public:
  using Tensors = std::function<std::span<std::byte>(std::size_t tensor, std::uint32_t slot)>;

  // `folder` is the program's own: all that lies in it is removed before every run.
  CommandRun(CommandPackage package, Tensors tensors, std::filesystem::path folder);

  // The run of these slots, one call for each: its files and inputs.
  Result<void> stage(std::span<const std::uint32_t> slots);
  // Runs it, with all it started: processor time in nanoseconds. REQUIRES: staged.
  CommandStep<double> run();
  // Its outputs to the tensors: nanoseconds of one call as the program itself claims, 0: it does not.
  CommandStep<double> collect(std::span<const std::uint32_t> slots);

 private:
  std::vector<std::string> command(std::size_t calls) const;
  Result<Fd> write_tensors(std::span<const std::uint32_t> slots, bool outputs) const;
  std::size_t most_output_bytes(std::size_t calls) const;
  std::string last_words() const;

  CommandPackage package_;
  Tensors tensors_;
  std::filesystem::path folder_;
  std::size_t calls_ = 0;
  Fd inputs_, outputs_, log_;
};

}  // namespace kforge
