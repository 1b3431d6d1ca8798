#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The determinism promise on whole runs: the same resolved scenario gives the same trace hash ten times over, alone and
# beside others, on an idle and on a busy machine, without optimisation and with it, from gcc and from clang.
# Usage: determinism.sh SOURCE_FOLDER BIN_FOLDER WORK_FOLDER
set -euo pipefail
source=$1
bin=$(cd "$2" && pwd)
work=$3
mkdir -p "$work"
cd "$work"
failures=0

hashes() { "$1/run_validation" --quiet --json --resolved "$work/resolved" --scenario all --tracks larkfield --timeout 20 "${@:2}" | grep -o '"trace_hash":"[0-9a-f]*"' || true; }
compare() {
  if [[ -s expected ]] && diff expected got >/dev/null; then echo "same: $1"; else echo "DIFFERENT: $1"; diff expected got || true; failures=$((failures + 1)); fi
}

hashes "$bin" --jobs 1 >expected
[[ $(wc -l <expected) -eq 3 ]] || { echo "expected three scenarios"; exit 1; }
for i in $(seq 2 10); do hashes "$bin" --jobs 1 >got; compare "run $i of 10"; done
hashes "$bin" --jobs 2 >got
compare "--jobs 2"

busy=()
for _ in $(seq "$(($(nproc) * 2))"); do (while :; do :; done) & busy+=($!); done
hashes "$bin" --jobs 2 >got
kill "${busy[@]}"
compare "under load"

# other NAME COMPILER FLAGS: builds run_validation again and compares.
other() {
  local name=$1 compiler=$2 flags=$3
  command -v "$compiler" >/dev/null || { echo "skipped: $name, no $compiler"; return; }
  cmake -S "$source" -B "$work/$name" -G Ninja -DBUILD_TESTING=OFF -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_COMPILER=$compiler" "-DCMAKE_CXX_FLAGS_DEBUG=$flags" >log 2>&1 &&
    cmake --build "$work/$name" >log 2>&1 || { cat log; failures=$((failures + 1)); return; }
  hashes "$work/$name/bin" >got
  compare "$name"
}
other gcc-O0 g++ -O0
other gcc-O3 g++ -O3
other clang-O2 clang++-14 -O2

# Another processor: a world without files, compiled whole and run under qemu. Third-party headers are the host's, third-party code
# is not linked: nothing in that world calls it.
if ! command -v aarch64-linux-gnu-g++ >/dev/null || ! command -v qemu-aarch64 >/dev/null; then
  echo "skipped: aarch64, no g++-aarch64-linux-gnu or qemu-user"
else
  mkdir -p include objects
  for package in yaml-cpp spdlog fmt box2d CLI eigen3 nlohmann hwy libpng16 png.h pngconf.h pnglibconf.h zlib.h zconf.h; do
    [[ -e /usr/include/$package ]] && ln -sfn "/usr/include/$package" "include/$package"
  done
  "$bin/trace_hash" >expected_world
  for level in -O0 -O2; do
    files=()
    for file in "$source"/{core,plant,tracks,sim,controllers}/*.cpp "$source/tests/trace_hash.cpp"; do
      [[ $file == *_test.cpp || $file == *_fuzz.cpp ]] || files+=("$file")
    done
    printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -I{} sh -c \
      'aarch64-linux-gnu-g++ -std=c++20 '$level' -ffp-contract=off -DEIGEN_DONT_VECTORIZE -DHWY_COMPILE_ONLY_STATIC -DSPDLOG_COMPILED_LIB -DSPDLOG_FMT_EXTERNAL -I"'"$source"'" -isystem include -c {} -o objects/$(echo {} | tr / _)'$level'.o' >log 2>&1 || { cat log; failures=$((failures + 1)); }
    aarch64-linux-gnu-g++ -static -Wl,--gc-sections,--unresolved-symbols=ignore-all objects/*"$level".o -o "world$level" >log 2>&1 || { cat log; failures=$((failures + 1)); continue; }
    qemu-aarch64 "./world$level" >got_world || true
    if diff expected_world got_world; then echo "same: aarch64 $level"; else echo "DIFFERENT: aarch64 $level"; failures=$((failures + 1)); fi
  done
fi
exit $((failures > 0))
