#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds (preset release) and runs the main job: run_validation --scenario all on the circuits that ship.
# Further arguments go to run_validation, for example: tools/validate.sh --quick --seed 7
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for argument in "$@"; do
  case "$argument" in -h | --help) sed -n '3,4s/^# //p' "${BASH_SOURCE[0]}" >&2 ;; esac
done
tools/setup.sh
tools/build.sh release
scenario=(--scenario all)
for argument in "$@"; do
  case "$argument" in --scenario | --scenario=* | --list | --help | -h | --version) scenario=() ;; esac
done
exec build/release/bin/run_validation "${scenario[@]}" "$@"
