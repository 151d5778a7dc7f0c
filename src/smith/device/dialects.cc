// The four tables.
#include "smith/device/dialect.h"

namespace kforge::smith {
namespace {

using Functions = std::map<Op, std::string_view>;

// What all four spell alike; the tables below add to it or replace.
Functions common_functions() {
  return {
      {Op::kNeg, "-{0}"},          {Op::kAbs, "fabs({0})"},
      {Op::kSqrt, "sqrt({0})"},    {Op::kExp, "exp({0})"},
      {Op::kLog, "log({0})"},      {Op::kFloor, "floor({0})"},
      {Op::kCeil, "ceil({0})"},    {Op::kRound, "rint({0})"},
      {Op::kSin, "sin({0})"},      {Op::kCos, "cos({0})"},
      {Op::kTan, "tan({0})"},      {Op::kAsin, "asin({0})"},
      {Op::kAcos, "acos({0})"},    {Op::kAtan, "atan({0})"},
      {Op::kSinh, "sinh({0})"},    {Op::kCosh, "cosh({0})"},
      {Op::kAsinh, "asinh({0})"},  {Op::kAcosh, "acosh({0})"},
      {Op::kAtanh, "atanh({0})"},  {Op::kTanh, "tanh({0})"},
      {Op::kPow, "pow({0}, {1})"}, {Op::kFmod, "fmod({0}, {1})"},
  };
}

Functions with(Functions base, const Functions& more, const std::set<Op>& without = {}) {
  for (const auto& [op, text] : more) base[op] = text;
  for (const Op op : without) base.erase(op);
  return base;
}

Dialect opencl() {
  Dialect d;
  d.language = DeviceLanguage::kOpenCl;
  d.name = "opencl", d.file = "kernel.cl";
  d.whole = "long", d.whole_end = "L";
  d.infinity = "INFINITY", d.nan = "NAN";
  d.shared = "__local ";
  d.constant = "__constant ";
  d.barrier = "barrier(CLK_LOCAL_MEM_FENCE);";
  d.barrier_all = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);";
  d.lane = "(int)get_local_id(0)", d.lanes = "(int)get_local_size(0)";
  d.group[0] = "(int)get_group_id(0)", d.group[1] = "(int)get_group_id(1)",
  d.group[2] = "(int)get_group_id(2)";
  d.groups = "(int)get_num_groups(0)";
  d.float_bits = "as_int({0})", d.bits_float = "as_float({0})";
  d.stored = {{DType::kFloat32, "float"},   {DType::kFloat64, "double"}, {DType::kFloat16, "half"},
              {DType::kBFloat16, "ushort"}, {DType::kBool, "uchar"},     {DType::kInt8, "char"},
              {DType::kUInt8, "uchar"},     {DType::kInt16, "short"},    {DType::kUInt16, "ushort"},
              {DType::kInt32, "int"},       {DType::kUInt32, "uint"},    {DType::kInt64, "long"},
              {DType::kUInt64, "ulong"}};
  d.functions = with(common_functions(), {{Op::kExpm1, "expm1({0})"},
                                          {Op::kLog1p, "log1p({0})"},
                                          {Op::kErf, "erf({0})"},
                                          {Op::kErfc, "erfc({0})"},
                                          {Op::kNormalCdf, "(0.5f * erfc(-0.70710678f * {0}))"}});
  d.reserved = {"kernel",     "global",     "local",     "constant",  "private", "half",
                "uchar",      "ushort",     "uint",      "ulong",     "image",   "read_only",
                "write_only", "read_write", "event_t",   "sampler_t", "vec",     "select",
                "step",       "mix",        "clamp",     "sign",      "dot",     "cross",
                "length",     "distance",   "normalize", "M_PI",      "NAN",     "INFINITY"};
  return d;
}

Dialect cuda() {
  Dialect d;
  d.language = DeviceLanguage::kCuda;
  d.name = "cuda", d.file = "kernel.cu";
  d.whole = "long long", d.whole_end = "LL";
  d.infinity = "__int_as_float(0x7f800000)", d.nan = "__int_as_float(0x7fc00000)";
  d.shared = "__shared__ ";
  d.function = "static __device__ __forceinline__ ";
  d.constant = "static __device__ const ";
  d.barrier = d.barrier_all = "__syncthreads();";
  d.lane = "(int)threadIdx.x", d.lanes = "(int)blockDim.x";
  d.group[0] = "(int)blockIdx.x", d.group[1] = "(int)blockIdx.y", d.group[2] = "(int)blockIdx.z";
  d.groups = "(int)gridDim.x";
  d.float_bits = "__float_as_int({0})", d.bits_float = "__int_as_float({0})";
  d.stored = {{DType::kFloat32, "float"},
              {DType::kFloat64, "double"},
              {DType::kFloat16, "__half"},
              {DType::kBFloat16, "unsigned short"},
              {DType::kBool, "unsigned char"},
              {DType::kInt8, "signed char"},
              {DType::kUInt8, "unsigned char"},
              {DType::kInt16, "short"},
              {DType::kUInt16, "unsigned short"},
              {DType::kInt32, "int"},
              {DType::kUInt32, "unsigned int"},
              {DType::kInt64, "long long"},
              {DType::kUInt64, "unsigned long long"}};
  d.functions = with(common_functions(), {{Op::kExpm1, "expm1({0})"},
                                          {Op::kLog1p, "log1p({0})"},
                                          {Op::kErf, "erf({0})"},
                                          {Op::kErfc, "erfc({0})"},
                                          {Op::kNormalCdf, "(0.5f * erfc(-0.70710678f * {0}))"}});
  d.reserved = {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "y0",  "y1",  "yn",
                "j0",        "j1",       "jn",       "gamma",   "normal",   "exp", "log", "pow",
                "sin",       "cos",      "tan",      "index",   "signal",   "min", "max"};
  return d;
}

Dialect msl() {
  Dialect d;
  d.language = DeviceLanguage::kMsl;
  d.name = "msl", d.file = "kernel.metal";
  d.whole = "long", d.whole_end = "L";
  d.infinity = "INFINITY", d.nan = "NAN";
  d.shared = "threadgroup ";
  d.function = "static inline ";
  d.constant = "constant ";
  d.barrier = "threadgroup_barrier(mem_flags::mem_threadgroup);";
  d.barrier_all = "threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);";
  d.lane = "(int)thread_.x", d.lanes = "(int)threads_.x";
  d.group[0] = "(int)group_.x", d.group[1] = "(int)group_.y", d.group[2] = "(int)group_.z";
  d.groups = "(int)groups_.x";
  d.float_bits = "as_type<int>({0})", d.bits_float = "as_type<float>({0})";
  d.has_double = false;
  d.stored = {{DType::kFloat32, "float"}, {DType::kFloat16, "half"},  {DType::kBFloat16, "ushort"},
              {DType::kBool, "uchar"},    {DType::kInt8, "char"},     {DType::kUInt8, "uchar"},
              {DType::kInt16, "short"},   {DType::kUInt16, "ushort"}, {DType::kInt32, "int"},
              {DType::kUInt32, "uint"},   {DType::kInt64, "long"},    {DType::kUInt64, "ulong"}};
  // precise:: keeps its accuracy even where the file is compiled with fast mathematics.
  d.functions = with(common_functions(), {{Op::kSqrt, "precise::sqrt({0})"},
                                          {Op::kExp, "precise::exp({0})"},
                                          {Op::kLog, "precise::log({0})"},
                                          {Op::kSin, "precise::sin({0})"},
                                          {Op::kCos, "precise::cos({0})"},
                                          {Op::kTan, "precise::tan({0})"},
                                          {Op::kTanh, "precise::tanh({0})"},
                                          {Op::kPow, "precise::pow({0}, {1})"}});
  d.reserved = {"kernel", "device",        "constant", "thread",   "threadgroup", "half",    "uint",
                "uchar",  "ushort",        "ulong",    "vertex",   "fragment",    "sampler", "texture",
                "metal",  "packed_float3", "select",   "step",     "mix",         "clamp",   "sign",
                "dot",    "cross",         "length",   "distance", "normalize",   "exp",     "log",
                "pow",    "min",           "max",      "any",      "all",         "precise", "fast",
                "simd",   "array",         "vec",      "matrix"};
  return d;
}

Dialect glsl() {
  Dialect d;
  d.language = DeviceLanguage::kGlsl;
  d.name = "glsl", d.file = "kernel.comp";
  d.whole = "int64_t", d.whole_end = "L";
  d.infinity = "uintBitsToFloat(0x7f800000u)", d.nan = "uintBitsToFloat(0x7fc00000u)";
  d.shared = "shared ";
  d.shared_at_file_scope = true;
  d.constant = "const ";
  d.barrier = "memoryBarrierShared(); barrier();";
  d.barrier_all = "memoryBarrierBuffer(); memoryBarrierShared(); barrier();";
  d.lane = "int(gl_LocalInvocationID.x)", d.lanes = "int(gl_WorkGroupSize.x)";
  d.group[0] = "int(gl_WorkGroupID.x)", d.group[1] = "int(gl_WorkGroupID.y)",
  d.group[2] = "int(gl_WorkGroupID.z)";
  d.groups = "int(gl_NumWorkGroups.x)";
  d.float_bits = "floatBitsToInt({0})", d.bits_float = "intBitsToFloat({0})";
  d.constructor_casts = true;
  d.stored = {{DType::kFloat32, "float"},     {DType::kFloat64, "double"}, {DType::kFloat16, "float16_t"},
              {DType::kBFloat16, "uint16_t"}, {DType::kBool, "uint8_t"},   {DType::kInt8, "int8_t"},
              {DType::kUInt8, "uint8_t"},     {DType::kInt16, "int16_t"},  {DType::kUInt16, "uint16_t"},
              {DType::kInt32, "int"},         {DType::kUInt32, "uint"},    {DType::kInt64, "int64_t"},
              {DType::kUInt64, "uint64_t"}};
  // tanh of the language may be sinh / cosh, which overflows; pow knows no negative base.
  d.functions = with(common_functions(), {{Op::kAbs, "abs({0})"}, {Op::kRound, "roundEven({0})"}},
                     {Op::kTanh, Op::kPow, Op::kFmod});
  d.reserved = {
      "input",      "output",   "sample",    "buffer",    "shared",    "in",        "out",      "inout",
      "half",       "uniform",  "varying",   "attribute", "layout",    "filter",    "image",    "texture",
      "vec2",       "vec3",     "vec4",      "mat2",      "mat3",      "mat4",      "fixed",    "unsigned",
      "superp",     "common",   "partition", "active",    "asm",       "class",     "union",    "enum",
      "typedef",    "template", "this",      "resource",  "goto",      "inline",    "noinline", "public",
      "static",     "extern",   "external",  "interface", "long",      "short",     "hvec2",    "dvec2",
      "sampler",    "cast",     "namespace", "using",     "row_major", "patch",     "centroid", "flat",
      "smooth",     "precise",  "invariant", "precision", "lowp",      "mediump",   "highp",    "discard",
      "subroutine", "coherent", "volatile",  "restrict",  "readonly",  "writeonly", "main",     "min",
      "max",        "abs",      "sign",      "floor",     "mod",       "step",      "mix",      "length",
      "distance",   "dot",      "cross",     "normalize", "exp",       "log",       "pow",      "sqrt",
      "sin",        "cos",      "tan",       "any",       "all",       "not",       "barrier"};
  return d;
}

}  // namespace

const Dialect& dialect_of(DeviceLanguage language) {
  static const std::map<DeviceLanguage, Dialect> all = {{DeviceLanguage::kOpenCl, opencl()},
                                                        {DeviceLanguage::kGlsl, glsl()},
                                                        {DeviceLanguage::kCuda, cuda()},
                                                        {DeviceLanguage::kMsl, msl()}};
  return all.at(language);
}

}  // namespace kforge::smith
