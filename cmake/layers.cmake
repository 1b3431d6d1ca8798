# SPDX-License-Identifier: Apache-2.0
# Who may include whom: the one table of docs/architecture.md, read by pitwall_library() when it links, and by
# check_layers() when it reads every #include. Included from CMakeLists.txt (check at configure time) and run as a
# script by the CTest `layering` (cmake -P cmake/layers.cmake).

set(PITWALL_FOLDERS
    core plant tracks tracks/build calibration sim controllers scenarios apps tests bench)

set(PITWALL_MAY_USE_core "")
set(PITWALL_MAY_USE_plant core)
set(PITWALL_MAY_USE_tracks core)
set(PITWALL_MAY_USE_calibration core)
set(PITWALL_MAY_USE_tracks/build core tracks)
set(PITWALL_MAY_USE_sim core plant tracks)
set(PITWALL_MAY_USE_controllers core tracks)
set(PITWALL_MAY_USE_scenarios core calibration plant tracks sim controllers)
set(PITWALL_MAY_USE_apps ${PITWALL_FOLDERS})
set(PITWALL_MAY_USE_tests ${PITWALL_FOLDERS})
set(PITWALL_MAY_USE_bench ${PITWALL_FOLDERS})

# A run is a function of its resolved scenario: these folders may not ask the machine for anything.
set(PITWALL_DETERMINISTIC core plant tracks sim controllers scenarios)
set(PITWALL_BANNED_WORDS
    "std::chrono" "random_device" "[^_a-z]rand\\(" "std::thread" "std::jthread" "std::async" "::Random" "normal_distribution"
    "uniform_real_distribution" "getenv" "gettimeofday" "clock_gettime")
# What ends in the state must not depend on the C library (core/math has its own).
set(PITWALL_BANNED_MATH "std::(sin|cos|tan|asin|acos|atan|atan2|exp|exp2|expm1|log|log2|log10|log1p|pow|hypot|cbrt|sinh|cosh|tanh|fma)\\(")
# The suite runner starts workers around whole runs and times them; nothing inside a run sees either.
set(PITWALL_BANNED_EXEMPT "scenarios/runner.cpp")

# The folder of the table that a file lies in: the longest one that matches.
function(pitwall_folder_of path out)
  set(best "")
  foreach(folder IN LISTS PITWALL_FOLDERS)
    string(FIND "${path}" "${folder}/" at)
    if(at EQUAL 0)
      string(LENGTH "${folder}" length)
      string(LENGTH "${best}" best_length)
      if(length GREATER best_length)
        set(best "${folder}")
      endif()
    endif()
  endforeach()
  set(${out} "${best}" PARENT_SCOPE)
endfunction()

# Reads every source below `root`; stops with all violations named.
function(check_layers root)
  set(problems "")
  foreach(folder IN LISTS PITWALL_FOLDERS)
    file(GLOB files RELATIVE "${root}" "${root}/${folder}/*.hpp" "${root}/${folder}/*.cpp" "${root}/${folder}/*/*.hpp" "${root}/${folder}/*/*.cpp")
    foreach(file IN LISTS files)
      pitwall_folder_of("${file}" home)
      if(NOT home STREQUAL folder)
        continue()
      endif()
      file(STRINGS "${root}/${file}" includes REGEX "^#include \"")
      foreach(line IN LISTS includes)
        string(REGEX REPLACE "^#include \"([^\"]*)\".*" "\\1" included "${line}")
        pitwall_folder_of("${included}" target)
        if(target STREQUAL "")
          list(APPEND problems "${file}: \"${included}\" is not included from the root of the tree")
        elseif(NOT target STREQUAL home AND NOT target IN_LIST PITWALL_MAY_USE_${home} AND NOT file MATCHES "_(test|bench)\\.cpp$")
          list(APPEND problems "${file}: ${home} may not include ${target} (\"${included}\")")
        endif()
      endforeach()
      if(home IN_LIST PITWALL_DETERMINISTIC AND NOT file MATCHES "_(test|bench)\\.cpp$" AND NOT file IN_LIST PITWALL_BANNED_EXEMPT)
        file(STRINGS "${root}/${file}" lines)
        foreach(word IN LISTS PITWALL_BANNED_WORDS PITWALL_BANNED_MATH)
          foreach(line IN LISTS lines)
            string(REGEX REPLACE "//.*" "" code "${line}")
            if(code MATCHES "${word}")
              list(APPEND problems "${file}: `${CMAKE_MATCH_0}` is banned in ${home}")
              break()
            endif()
          endforeach()
        endforeach()
      endif()
    endforeach()
  endforeach()
  if(problems)
    list(JOIN problems "\n  " text)
    message(FATAL_ERROR "layering:\n  ${text}")
  endif()
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  if(NOT DEFINED ROOT)
    get_filename_component(ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
  endif()
  check_layers("${ROOT}")
else()
  check_layers("${PROJECT_SOURCE_DIR}")
endif()
