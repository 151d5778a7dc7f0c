#include "baseline/onednn/loops/loops.h"

namespace kforge::loops {

#define KF_DECLARE(name, arguments) void name arguments;
namespace v2 {
KF_LOOPS(KF_DECLARE)
}
namespace v3 {
KF_LOOPS(KF_DECLARE)
}
namespace v4 {
KF_LOOPS(KF_DECLARE)
}
#undef KF_DECLARE

const Table& loops() {
#define KF_V2(name, arguments) &v2::name,
#define KF_V3(name, arguments) &v3::name,
#define KF_V4(name, arguments) &v4::name,
  static const Table kV2 = {KF_LOOPS(KF_V2) "SSE2"};
  static const Table kV3 = {KF_LOOPS(KF_V3) "AVX2"};
  static const Table kV4 = {KF_LOOPS(KF_V4) "AVX-512"};
  static const Table& chosen =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
              __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
          ? kV4
      : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")
          ? kV3
          : kV2;
  return chosen;
}

}  // namespace kforge::loops
