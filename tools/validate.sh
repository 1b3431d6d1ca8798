#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds (preset release) and runs the main job: run_validation --scenario all on the circuits that ship.
# Further arguments go to run_validation, for example: tools/validate.sh --quick --seed 7
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
scenario=(--scenario all)
for argument in "$@"; do
  case "$argument" in
    -h | --help) sed -n '3,4s/^# //p' "${BASH_SOURCE[0]}" >&2; scenario=() ;;
    --scenario | --scenario=* | --list | --version) scenario=() ;;
  esac
done
"$root/tools/setup.sh"
"$root/tools/build.sh" release
# From the folder of the caller, whose paths these are.
exec "$root/build/release/bin/run_validation" "${scenario[@]}" "$@"
