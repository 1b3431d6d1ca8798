# SPDX-License-Identifier: Apache-2.0
# What every target is compiled with. The floating-point flags are part of the determinism promise
# (docs/decisions/0002-determinism.md): they are exported with every library, since mixing them breaks the
# one-definition rule.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

option(PITWALL_WARNINGS_AS_ERRORS "Warnings are errors (preset ci)" OFF)
set(PITWALL_SANITIZE "" CACHE STRING "Value of -fsanitize= for everything, for example address,undefined")

# For a build from nothing (tools/build.sh): the standard library's headers are precompiled and the sources of a target compiled as one,
# which takes a third of the time. ccache, which makes the next build shorter still, does not go with it. What two files of a folder call the
# same in their unnamed namespaces then collides: name it differently, or share it.
option(PITWALL_COLD_BUILD "Precompile headers and compile each target's sources as one; without ccache" OFF)
if(PITWALL_COLD_BUILD)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
endif()

find_program(PITWALL_CCACHE ccache)
if(PITWALL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT PITWALL_COLD_BUILD)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${PITWALL_CCACHE}")
endif()

add_library(pitwall_flags INTERFACE)
target_compile_features(pitwall_flags INTERFACE cxx_std_20)
target_compile_options(pitwall_flags INTERFACE -ffp-contract=off)
target_compile_definitions(pitwall_flags INTERFACE EIGEN_DONT_VECTORIZE)
target_include_directories(pitwall_flags INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/pitwall>")
if(PITWALL_SANITIZE)
  target_compile_options(pitwall_flags INTERFACE -fsanitize=${PITWALL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(pitwall_flags INTERFACE -fsanitize=${PITWALL_SANITIZE})
endif()

add_library(pitwall_warnings INTERFACE)
target_compile_options(pitwall_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast)
if(PITWALL_COLD_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(pitwall_warnings INTERFACE -Wno-subobject-linkage)  # which files are included and which compiled is not what it seems
endif()
if(PITWALL_WARNINGS_AS_ERRORS)
  target_compile_options(pitwall_warnings INTERFACE -Werror)
endif()

# A test's own source is read once and run once: -O0 compiles it in 0.6 of the time of -O2, and what it tests is in libraries at -O2.
add_library(pitwall_test_flags INTERFACE)
target_compile_options(pitwall_test_flags INTERFACE "$<$<CONFIG:Release>:-O0>")

# pitwall_precompiled(<target> [PACKAGE target HEADER <file>]): what nearly every file includes is read once for all of them, where
# PITWALL_COLD_BUILD asks for it; with a package, its header as well.
function(pitwall_precompiled target)
  if(NOT PITWALL_COLD_BUILD)
    return()
  endif()
  cmake_parse_arguments(arg "" "PACKAGE;HEADER" "" ${ARGN})
  string(MAKE_C_IDENTIFIER "pitwall_precompiled_${arg_PACKAGE}" shared)
  if(NOT TARGET ${shared})
    file(WRITE "${PROJECT_BINARY_DIR}/precompiled.cpp" "")
    add_library(${shared} OBJECT "${PROJECT_BINARY_DIR}/precompiled.cpp")
    target_link_libraries(${shared} PRIVATE pitwall_flags pitwall_warnings ${arg_PACKAGE})
    if(arg_PACKAGE STREQUAL "doctest::doctest")
      target_link_libraries(${shared} PRIVATE pitwall_test_flags)
    endif()
    target_precompile_headers(${shared} PRIVATE <algorithm> <array> <cmath> <cstddef> <cstdint> <filesystem> <functional> <limits>
                              <map> <memory> <optional> <span> <string> <string_view> <utility> <variant> <vector> ${arg_HEADER})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      # False alarms about std::string (GCC bugs 105329, 105562), which are not muted where the header is precompiled; the others
      # of the optimiser's kind are printed, but do not end the build. Builds that do not precompile keep them all as errors.
      target_compile_options(pitwall_warnings INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread
                             -Wno-error=maybe-uninitialized -Wno-error=use-after-free -Wno-error=free-nonheap-object -Wno-error=dangling-pointer
                             -Wno-error=nonnull)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${shared})
endfunction()
