#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds (preset ci, warnings are errors) and runs the tests (ctest -LE slow), run_validation --scenario all among them.
# Further arguments go to ctest in place of -LE slow, for example: tools/test.sh -L slow, tools/test.sh -R contact
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case "${1:-}" in -h | --help) sed -n '3,4s/^# //p' "${BASH_SOURCE[0]}"; exit 0 ;; esac
"$root/tools/setup.sh" --tests
"$root/tools/build.sh" ci
[[ $# -gt 0 ]] || set -- -LE slow
exec ctest --test-dir "$root/build/ci" --output-on-failure --parallel "$(nproc)" "$@"
