# What keeps a fresh build short, all in one place:
#  - the files of a folder are compiled several at a time (CMAKE_UNITY_BUILD; the preset dev compiles them one by one);
#  - the headers nearly every file needs are compiled once (CMAKE_DISABLE_PRECOMPILE_HEADERS=ON does without);
#  - code that never runs long is optimised less, or not at all;
#  - g++ collects its garbage late: it spends a tenth of its time on that by default, and needs at most 1 GB without.
# scripts/tidy.sh looks at every file alone and without precompiled headers, so a missing include does not go unseen.

# Files with options or definitions of their own stay out of a batch by themselves.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 24)

# In kilobytes. clang (scripts/tidy.sh) has no such parameter.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("SHELL:--param ggc-min-heapsize=1000000")
endif()

# Parsing, printing and bookkeeping: they wait for a compiler, a kernel or a service, never the other way round.
# Those that go over whole graphs, schedules or source files are optimised a little.
set(KF_COOL base baseline command device emulate graph smith smith_attention smith_contract smith_device smith_emit
    smith_expr smith_graph smith_schedule task)
set(KF_COLD analyse build cli export forge generate import judge llm mcp platform plot profile report search serve store suite)

set(kf_common_headers
  <algorithm> <chrono> <cstdint> <expected> <filesystem> <functional> <map> <memory> <optional> <set> <span> <string>
  <string_view> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>)

# JSON and CLI11 are not among them: g++ emits much of their code in every file that sees them, used or not.
function(kforge_precompiled_header name)
  cmake_parse_arguments(arg "" "" "HEADERS;DEPS;OPTIONS" ${ARGN})
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cc CONTENT "// Stands for the precompiled header of this target.\n")
  add_library(${name} STATIC ${CMAKE_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PRIVATE kf_options fmt::fmt ${arg_DEPS})
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
endfunction()

function(kforge_compile_library name)
  if(NOT TARGET kf_headers)
    kforge_precompiled_header(kf_headers HEADERS ${kf_common_headers})
    # A precompiled header serves optimised files or unoptimised ones.
    kforge_precompiled_header(kf_cold_headers HEADERS ${kf_common_headers} OPTIONS $<$<CONFIG:Release>:-O0>)
  endif()
  if(name IN_LIST KF_COLD)
    target_compile_options(kf_${name} PRIVATE $<$<CONFIG:Release>:-O0>)
    target_precompile_headers(kf_${name} REUSE_FROM kf_cold_headers)
  else()
    target_precompile_headers(kf_${name} REUSE_FROM kf_headers)
  endif()
  # In a batch every file is an included one, and g++ takes their anonymous namespaces for those of headers.
  target_compile_options(kf_${name} PRIVATE -Wno-subobject-linkage)
  if(name IN_LIST KF_COOL)
    target_compile_options(kf_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# Tests compute little themselves; unoptimised they compile in a third of the time.
function(kforge_compile_test name)
  if(NOT TARGET kf_test_headers)
    kforge_precompiled_header(kf_test_headers
      HEADERS ${kf_common_headers} <gmock/gmock.h> <gtest/gtest.h> DEPS GTest::gmock OPTIONS -O0)
  endif()
  target_compile_options(${name} PRIVATE -O0)
  target_compile_options(${name} PRIVATE -Wno-subobject-linkage)
  target_precompile_headers(${name} REUSE_FROM kf_test_headers)
endfunction()
