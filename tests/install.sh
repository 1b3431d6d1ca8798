#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The installed tree stands alone: its programs find their data, and a project that knows nothing but find_package(pitwall)
# builds against it and computes the same trace hash. Usage: install.sh SOURCE_FOLDER BUILD_FOLDER WORK_FOLDER
set -euo pipefail
source=$1
build=$2
work=$3
rm -rf "$work"
mkdir -p "$work"
cd "$work"
cmake --install "$build" --prefix "$work/prefix" >log || { cat log; exit 1; }
mv prefix elsewhere  # nothing may remember where it was installed to

for program in run_validation calibration track_generate; do "elsewhere/bin/$program" --version; done
elsewhere/bin/run_validation --list | grep -q larkfield
elsewhere/bin/calibration --car rb2 >/dev/null
elsewhere/bin/run_validation --quiet --json --scenario gap --quick --timeout 2 --resolved resolved >program.json || [[ $? -eq 1 ]]
expected=$(grep -o '"trace_hash":"[0-9a-f]*"' program.json | cut -d'"' -f4)

cmake -S "$source/tests/install" -B consumer -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/elsewhere" "${@:4}" >log 2>&1 &&
  cmake --build consumer >log 2>&1 || { cat log; exit 1; }
got=$(consumer/consumer elsewhere/share/pitwall)
[[ -n "$expected" && "$got" == "$expected" ]] || { echo "trace hash '$got' from the package, '$expected' from the program"; exit 1; }
echo "the installed tree works: trace hash $got"
