# SPDX-License-Identifier: Apache-2.0
# The layering check must itself fail on what it is there to find: each violation below is planted alone in a small tree.
# Run by the CTest `layering_catches`: cmake -DWORK=<scratch folder> -P tests/layering_test.cmake
cmake_minimum_required(VERSION 3.22)
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)

# expect(<regex, or OK> <file> <content>): the check on a tree of that one file fails with that text, or passes.
function(expect wanted file content)
  file(REMOVE_RECURSE "${WORK}")
  file(WRITE "${WORK}/${file}" "${content}\n")
  execute_process(COMMAND "${CMAKE_COMMAND}" -DROOT=${WORK} -P "${root}/cmake/layers.cmake"
                  RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(wanted STREQUAL "OK")
    if(NOT code EQUAL 0)
      message(SEND_ERROR "${file} with `${content}` should pass, but: ${err}")
    endif()
  elseif(code EQUAL 0)
    message(SEND_ERROR "${file} with `${content}` passes, but should fail with: ${wanted}")
  elseif(NOT err MATCHES "${wanted}")
    message(SEND_ERROR "${file} with `${content}` fails, but not with `${wanted}`: ${err}")
  endif()
endfunction()

# Includes.
expect("plant may not[ \n]+include sim" plant/a.cpp "#include \"sim/world.hpp\"")
expect("core may not[ \n]+include plant" core/a.hpp "#include \"plant/plant.hpp\"")
expect("controllers may[ \n]+not include sim" controllers/deep/a.hpp "#include \"sim/world.hpp\"")
expect("tracks may not[ \n]+include tracks/build" tracks/a.cpp "#include \"tracks/build/generator.hpp\"")
expect("tracks may not[ \n]+include tracks/build" tracks/a.cpp "  #  include \"tracks/build/generator.hpp\"")
expect("not included from[ \n]+the root" plant/a.cpp "#include \"plant_model.hpp\"")
expect("not included from[ \n]+the root" plant/a.cpp "#include \"../core/time.hpp\"")
expect(OK plant/a.cpp "#include \"core/time.hpp\"")
expect(OK plant/a.cpp "#include \"plant/plant.hpp\"")
expect(OK tracks/build/a.cpp "#include \"tracks/track.hpp\"")
expect(OK plant/a_test.cpp "#include \"tests/support/allocation_guard.hpp\"")
expect(OK apps/a.cpp "#include \"sim/world.hpp\"")

# Third-party libraries.
expect(OK core/a.cpp "#include <yaml-cpp/yaml.h>")
expect("belongs in[ \n]+a .cpp" core/a.hpp "#include <yaml-cpp/yaml.h>")
expect("sim may not use" sim/a.cpp "#include <yaml-cpp/yaml.h>")
expect("controllers may not[ \n]+use" controllers/a.cpp "#include <nlohmann/json.hpp>")
expect(OK apps/a.cpp "#include <CLI/CLI.hpp>")
expect(OK plant/a.hpp "#include <Eigen/Core>")

# What a run may not ask the machine for.
foreach(code "auto t = std::chrono::steady_clock::now()\;" "std::random_device d\;" "int x = rand()\;" "int x = std::rand()\;" "rand()\;" "std::thread t\;" "std::jthread t\;"
        "std::async(f)\;" "Eigen::Vector3d::Random()\;" "std::normal_distribution<> n\;" "std::uniform_real_distribution<> u\;" "getenv(name)\;" "std::mt19937 g\;"
        "std::unordered_map<int, int> m\;" "time(nullptr)\;" "std::execution::par")
  expect("is banned in sim" sim/a.cpp "${code}")
endforeach()
expect("is banned in scenarios" scenarios/a.cpp "std::thread t\;")
expect(OK scenarios/runner.cpp "std::thread t\;")
expect(OK apps/a.cpp "std::thread t\;")
expect(OK sim/a.cpp "// std::thread and rand() are banned here")
expect(OK sim/a.cpp "int strand(int x)\; int operand(int)\;")
expect(OK sim/a.cpp "double runtime(double x)\; lap_time(3)\;")
expect("is banned in sim" sim/a.cpp "int a[2]\; char open = '['\; // comment\nstd::thread t\;")
expect(OK sim/a_test.cpp "std::thread t\;")

# Mathematics whose bits are the C library's.
foreach(function sin cos tan asin acos atan atan2 exp exp2 expm1 log log2 log10 log1p pow hypot cbrt sinh cosh tanh fma)
  expect("is banned in plant" plant/a.cpp "double y = std::${function}(x)\;")
endforeach()
foreach(function sin cos atan2 pow hypot)
  expect("is banned in plant" plant/a.cpp "double y = 2.0 * ${function}(x)\;")
  expect("is banned in plant" plant/a.cpp "double y = ::${function}(x)\;")
endforeach()
expect("is banned in plant" plant/a.cpp "float y = sinf(x)\;")
expect(OK plant/a.cpp "double y = math::sin(x) + pitwall::math::atan2(y, x)\;")
expect(OK plant/a.cpp "double y = std::sqrt(x) + std::floor(x) + std::fmod(x, 2.0) + std::fabs(x)\;")
expect(OK plant/a.cpp "double arcsin(double)\; log::info(text)\; history.exp(3)\; using math::sin\;")
file(REMOVE_RECURSE "${WORK}")
