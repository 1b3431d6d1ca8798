#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# track_import_test.sh BIN_FOLDER: a map becomes a track that other programs know by its name; what is refused leaves nothing behind.
set -eu
PATH="$1:$PATH"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export PITWALL_TRACKS="$work/own"
expect() { # PATTERN FILE
  grep -Eq -- "$1" "$2" || { echo "no '$1' in:"; cat "$2"; exit 1; }
}
shipped="$1/../share/pitwall/tracks/indoor_oval"
track_import "$shipped/indoor_oval_map.yaml" --name loft --source "drawn, for a test" --plot loft.png >out
# 4 (5.0 + 3.2) - (8 - 2 pi) 1.8 = 29.7 m
expect 'loft: lap of 29\.[67][0-9] m, at least 1\.[789]' out
expect 'source: "drawn, for a test"' own/loft/origin.yaml
expect 'image_sha256: [0-9a-f]{64}' own/loft/origin.yaml
test "$(head -c 4 loft.png | tail -c 3)" = PNG
run_validation --list >out
expect 'your own: +loft' out
run_validation --scenario pure --tracks loft --quiet --record runs >out
expect '^PASS|1/1|pass' out
replay runs/* >out
expect 'identical' out
optimize_raceline --track loft --output line.csv >out
if track_import "$shipped/indoor_oval_map.yaml" --name loft --source again 2>err; then exit 1; fi
expect 'loft exists; --replace' err
track_import "$shipped/indoor_oval_map.yaml" --name loft --source again --replace --json >out
expect '"length_m": 29\.' out
if track_import "$shipped/indoor_oval_map.yaml" --name wide --source s --min-width 3 2>err; then exit 1; fi
expect 'too narrow: a loop of 29\.[0-9] m is 1\.[789]' err
if run_validation --tracks lof 2>err; then exit 1; fi
expect "did you mean 'loft'" err
test "$(ls own)" = loft
