#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures and builds one preset, quietly unless something fails. Usage: tools/build.sh PRESET
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=$1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cmake --preset "$preset" -DPITWALL_COLD_BUILD=ON >"$log" 2>&1; then
  cat "$log" >&2
  exit 3
fi
if [[ -t 2 ]]; then
  cmake --build "build/$preset" >&2
else
  echo "build: preset $preset" >&2
  if ! cmake --build "build/$preset" >"$log" 2>&1; then
    cat "$log" >&2
    exit 3
  fi
fi
