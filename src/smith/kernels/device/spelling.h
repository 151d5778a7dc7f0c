// Words that device languages spell differently. The functions of this folder are written once, for OpenCL C,
// GLSL, CUDA C++ and MSL alike; emitted programs have the words replaced (device_prelude.cc). Here they
// are spelled in C++, so that the functions can be compiled and tested.
#pragma once

#include <cmath>
#include <cstdint>

#define FN inline                                   // before every function
#define WHOLE std::int64_t                          // the 64-bit integer
#define WHOLE_MOST INT64_MAX                        // its limits
#define WHOLE_LEAST INT64_MIN                       //
#define ABS std::fabs                               // the language's own functions
#define EXP std::exp                                //
#define LOG std::log                                //
#define FLOOR std::floor                            //
#define RINT std::nearbyint                         //
#define LOG1P log1p_of                              // its own, or ours
#define FMOD std::fmod                              //
#define FLOAT_BITS(x) __builtin_bit_cast(int, x)    // between a float and its bits
#define BITS_FLOAT(i) __builtin_bit_cast(float, i)  //
#define TO_INT (int)                                // conversions
#define TO_WHOLE (std::int64_t)                     //
#define DEVICE_INFINITY __builtin_inff()            //
#define DEVICE_NAN __builtin_nanf("")               //
