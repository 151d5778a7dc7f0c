#include "emulate/object_symbols.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/subprocess.h"

namespace kforge::emulate {
namespace {

std::string object_of(const std::string& source) {
  auto folder = TempDir::create();
  EXPECT_TRUE(folder && write_scratch_file(folder->path() / "a.cc", source));
  auto done =
      run_command(Command{.argv = {"g++", "-std=c++20", "-fPIC", "-c", "a.cc"}, .cwd = folder->path()});
  EXPECT_TRUE(done && done->ok());
  return *read_file(folder->path() / "a.o");
}

TEST(ObjectSymbols, OnlyTheDevicesFunctionsMayBeCalled) {
  const std::string fine = object_of("extern \"C\" float expf(float); float f(float x) { return expf(x); }");
  EXPECT_FALSE(check_object(fine, false));
  const std::string calls =
      object_of("extern \"C\" int system(const char*); int f() { return system(\"\"); }");
  const auto rejected = check_object(calls, false);
  ASSERT_TRUE(rejected);
  EXPECT_EQ(rejected->gate, Gate::kSymbols);
  EXPECT_EQ(rejected->reason, "the device code calls system, which is no function of the device");
}

// Its copies must go through functions that look first.
TEST(ObjectSymbols, CheckedCodeMayNotCopyByItself) {
  const std::string copies =
      object_of("extern \"C\" void* memcpy(void*, const void*, unsigned long); auto* p = &memcpy;");
  EXPECT_FALSE(check_object(copies, false));
  EXPECT_TRUE(check_object(copies, true));
}

TEST(ObjectSymbols, MalformedObjectsAreRejected) {
  std::string object = object_of("extern int y; int f() { return y; }");
  EXPECT_TRUE(check_object("", false));
  EXPECT_TRUE(check_object("not an object", false));
  for (std::size_t cut = 0; cut < object.size(); cut += 97) (void)undefined_symbols(object.substr(0, cut));
  for (std::size_t at = 0; at < object.size(); ++at) {
    std::string broken = object;
    broken[at] = static_cast<char>(0xFF);
    (void)undefined_symbols(broken);  // no crash
  }
}

}  // namespace
}  // namespace kforge::emulate
