#include "device/inline_includes.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

TEST(InlineIncludes, OwnFilesStandInPlaceOnceAndLinesStayTrue) {
  DevicePackage package;
  package.files = {
      {"kernel.metal", "#include <metal_stdlib>\n # include \"a.h\"\n#include \"task.h\"\nint k;\n"},
      {"a.h", "#include \"task.h\"\n#include \"kernel.metal\"\nint a;"},
      {"task.h", "int t;\n"}};
  EXPECT_EQ(inline_includes(package),
            "#line 1 \"kernel.metal\"\n#include <metal_stdlib>\n"
            "#line 1 \"a.h\"\n#line 1 \"task.h\"\nint t;\n#line 2 \"a.h\"\n#line 3 \"a.h\"\nint a;\n"
            "#line 3 \"kernel.metal\"\n#line 4 \"kernel.metal\"\nint k;\n");
}

}  // namespace
}  // namespace kforge
