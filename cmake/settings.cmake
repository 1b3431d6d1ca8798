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

find_program(PITWALL_CCACHE ccache)
if(PITWALL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
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
if(PITWALL_WARNINGS_AS_ERRORS)
  target_compile_options(pitwall_warnings INTERFACE -Werror)
endif()
