#include "execute/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace kforge {
namespace {

using testing::HasSubstr;
using testing::Not;

KforgeFault fault_of(int signal, int place, int argument) {
  KforgeFault fault{};
  fault.signal = signal;
  fault.place = place;
  fault.argument = argument;
  return fault;
}

TEST(Faults, NamesTheTensorAndTheSide) {
  Failure failure = describe_fault(fault_of(SIGSEGV, KFORGE_FAULT_AFTER_TENSOR, 1), {"x", "y"}, "a call", "");
  EXPECT_THAT(reason_text(failure), HasSubstr("SIGSEGV during a call: touched memory past the end of y"));
}

TEST(Faults, AnArgumentThatDoesNotExistIsNotUsed) {
  Failure failure = describe_fault(fault_of(SIGSEGV, KFORGE_FAULT_IN_TENSOR, 99), {"x"}, "a call", "");
  EXPECT_THAT(reason_text(failure), HasSubstr("a tensor"));
}

TEST(Faults, ARefusedSystemCallIsARejection) {
  KforgeFault fault = fault_of(SIGSYS, 0, -1);
  fault.syscall = 57;
  Failure failure = describe_fault(fault, {}, "loading", "");
  EXPECT_EQ(outcome_name(failure), "rejected");
  EXPECT_EQ(gate_name(failure), "sandbox");
  EXPECT_THAT(reason_text(failure), HasSubstr("fork"));
}

TEST(Faults, TerminalEscapesInOutputAreHarmless) {
  Failure failure = describe_fault(fault_of(SIGABRT, 0, -1), {}, "a call", "\x1b[2Jassertion failed");
  EXPECT_THAT(reason_text(failure), HasSubstr("assertion failed"));
  EXPECT_THAT(reason_text(failure), Not(HasSubstr("\x1b")));
}

TEST(Faults, AnExitInsideAKernelIsACrash) {
  SandboxExit exit;
  Failure failure = describe_exit(exit, "a call");
  EXPECT_EQ(outcome_name(failure), "crash");
  EXPECT_THAT(reason_text(failure), HasSubstr("exit code 0"));
}

}  // namespace
}  // namespace kforge
