# One library per folder: kforge_library(NAME SOURCES a.cc b.cc DEPS base fmt::fmt TESTS a_test.cc).
# The library of folder src/x is kf_x; its tests become the program x_test, one CTest entry per test case.
# Sources are listed by hand, so that a forgotten file is a link error and not a silent one.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(GTest REQUIRED)
include(GoogleTest)
include(CompileTime)
include(TestLabels)

add_library(kf_options INTERFACE)
target_include_directories(kf_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
# g++ 12 takes the variant inside every std::expected<T, Failure> for uninitialised: not usable as a warning.
target_compile_options(kf_options INTERFACE -Wall -Wextra -Wno-missing-field-initializers -Wno-maybe-uninitialized)

# For files of loops with KF_WIDE (base/wide.h). Values must be the same on every machine: no fused multiply-add behind
# the source's back. Vectorised also in unoptimised builds: they run over whole tensors.
function(kforge_wide_loops)
  # The precompiled header was made without these options and would be refused.
  set_source_files_properties(${ARGN} PROPERTIES
    COMPILE_OPTIONS "-O3;-ffp-contract=off;-fno-math-errno;-fno-trapping-math" SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# TIMED: the tests measure time. They would pass beside others, too, but rounds that others disturb are made up for: they
# take three times as long then, and alone they are done sooner.
function(kforge_tests name)
  cmake_parse_arguments(arg "TIMED" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE kf_options ${arg_DEPS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE KFORGE_SOURCE_DIR="${CMAKE_SOURCE_DIR}" KFORGE_BINARY_DIR="${CMAKE_BINARY_DIR}")
  kforge_compile_test(${name})
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 600 RUN_SERIAL ${arg_TIMED})
  kforge_label_tests(${name}_TESTS ${name} ${arg_TIMED})
endfunction()

function(kforge_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;TESTS" ${ARGN})
  add_library(kf_${name} STATIC ${arg_SOURCES})
  target_link_libraries(kf_${name} PUBLIC kf_options ${arg_DEPS})
  kforge_compile_library(${name})
  if(arg_TESTS)
    kforge_tests(${name}_test SOURCES ${arg_TESTS} DEPS kf_${name})
  endif()
endfunction()
