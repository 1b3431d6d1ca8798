# SPDX-License-Identifier: Apache-2.0
# Who may include whom: the one table (docs/architecture.md says why), read by pitwall_library() when it links, and by
# check_layers() when it reads every #include. Included from CMakeLists.txt (check at configure time) and run as a
# script by the CTest `layering` (cmake [-DROOT=<tree>] -P cmake/layers.cmake).
cmake_minimum_required(VERSION 3.22)

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

# Third-party libraries stay in the .cpp files of the folders named here (Eigen, header-only, may be anywhere).
set(PITWALL_THIRD_PARTY spdlog/ yaml-cpp/ box2d/ png.h opencv2/ ceres/ nanoflann nlohmann/ CLI/ sqlite3.h)
set(PITWALL_HOME_OF_spdlog/ core)
set(PITWALL_HOME_OF_yaml-cpp/ core recording)
set(PITWALL_HOME_OF_box2d/ sim)
set(PITWALL_HOME_OF_png.h tracks tracks/build report)
set(PITWALL_HOME_OF_opencv2/ tracks/build report)
set(PITWALL_HOME_OF_ceres/ calibration/fit localization tracks/build)
set(PITWALL_HOME_OF_nanoflann localization tracks)
set(PITWALL_HOME_OF_nlohmann/ scenarios recording analysis report onboard)
set(PITWALL_HOME_OF_CLI/ "")
set(PITWALL_HOME_OF_sqlite3.h recording)

# A run is a function of its resolved scenario: these folders may not ask the machine for anything.
set(PITWALL_DETERMINISTIC core plant tracks sim controllers scenarios)
set(PITWALL_BANNED_WORDS
    "std::chrono" "random_device" "(^|[^A-Za-z0-9_])s?rand\\(" "std::thread" "std::jthread" "std::async" "std::execution" "::Random\\("
    "normal_distribution" "uniform_(real|int)_distribution" "std::(mt19937|default_random_engine|minstd_rand|shuffle)" "getenv" "gettimeofday"
    "clock_gettime" "(^|[^A-Za-z0-9_])time\\((nullptr|NULL|0)" "std::unordered_")
# What ends in the state must not depend on the C library (core/math has its own); unqualified names are the C library's
# too, since <cmath> puts them into the global namespace.
set(PITWALL_LIBM "(sin|cos|tan|asin|acos|atan|atan2|exp|exp2|expm1|log|log2|log10|log1p|pow|hypot|cbrt|sinh|cosh|tanh|asinh|acosh|atanh|erf|erfc|tgamma|lgamma|fma)")
set(PITWALL_BANNED_MATH "std::${PITWALL_LIBM}[fl]?\\(" "(^|[^A-Za-z0-9_:.>])${PITWALL_LIBM}[fl]?\\(" "(^|[^A-Za-z0-9_>])::${PITWALL_LIBM}[fl]?\\(")
set(PITWALL_BANNED_MATH_EXEMPT core/math.hpp core/math.cpp)
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

# The code of a file: its comments taken out. Whole text rather than lines, since an unpaired bracket would glue the
# elements of a CMake list together.
function(pitwall_code_of path out)
  file(READ "${path}" text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  set(${out} "\n${text}" PARENT_SCOPE)
endfunction()

# Appends what is wrong with the #include lines of one file.
function(check_includes file home code into)
  set(found ${${into}})
  string(REGEX MATCHALL "\n[ \t]*#[ \t]*include[ \t]*[\"<][^\">\n]*" includes "${code}")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^[^\"<]*[\"<]" "" included "${line}")
    if(line MATCHES "<")
      foreach(library IN LISTS PITWALL_THIRD_PARTY)
        string(FIND "${included}" "${library}" at)
        if(NOT at EQUAL 0 OR home MATCHES "^(tests|bench)$" OR file MATCHES "_test\\.cpp$")
          continue()
        endif()
        if(file MATCHES "\\.hpp$")
          list(APPEND found "${file}: <${included}> belongs in a .cpp file")
        elseif(NOT home STREQUAL "apps" AND NOT home IN_LIST PITWALL_HOME_OF_${library})
          list(APPEND found "${file}: ${home} may not use <${included}>")
        endif()
      endforeach()
      continue()
    endif()
    pitwall_folder_of("${included}" target)
    if(target STREQUAL "")
      list(APPEND found "${file}: \"${included}\" is not included from the root of the tree")
    elseif(NOT target STREQUAL home AND NOT target IN_LIST PITWALL_MAY_USE_${home} AND NOT file MATCHES "_(test|bench|fuzz)\\.cpp$")
      list(APPEND found "${file}: ${home} may not include ${target} (\"${included}\")")
    endif()
  endforeach()
  set(${into} ${found} PARENT_SCOPE)
endfunction()

# Appends the banned words of one file.
function(check_words file home code into)
  set(found ${${into}})
  set(patterns ${PITWALL_BANNED_WORDS})
  if(NOT file IN_LIST PITWALL_BANNED_MATH_EXEMPT)
    list(APPEND patterns ${PITWALL_BANNED_MATH})
  endif()
  foreach(pattern IN LISTS patterns)
    if(code MATCHES "${pattern}")
      string(STRIP "${CMAKE_MATCH_0}" word)
      list(APPEND found "${file}: `${word}` is banned in ${home}")
    endif()
  endforeach()
  set(${into} ${found} PARENT_SCOPE)
endfunction()

# Reads every source below `root`; stops with all violations named.
function(check_layers root)
  set(problems "")
  foreach(folder IN LISTS PITWALL_FOLDERS)
    file(GLOB_RECURSE files RELATIVE "${root}" "${root}/${folder}/*.hpp" "${root}/${folder}/*.cpp")
    foreach(file IN LISTS files)
      pitwall_folder_of("${file}" home)
      if(NOT home STREQUAL folder)
        continue()
      endif()
      pitwall_code_of("${root}/${file}" code)
      check_includes("${file}" "${home}" "${code}" problems)
      if(home IN_LIST PITWALL_DETERMINISTIC AND NOT file MATCHES "_(test|bench|fuzz)\\.cpp$" AND NOT file IN_LIST PITWALL_BANNED_EXEMPT)
        check_words("${file}" "${home}" "${code}" problems)
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
