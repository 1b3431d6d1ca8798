#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# replay_test.sh BIN WORK: a run is recorded, replayed, changed, cut; as a shell sees it.
. "$(dirname "$0")/../tests/support/expect.sh"

# A time out after 3 s fails the run; what was recorded is a run all the same.
expect 1 'FAIL .*timeout after 3' "record" "$bin/run_validation" --scenario gap --quick --timeout 3 --record runs --output report.json
run=$(echo runs/*)
expect 0 '"replay": "ego \(gap_follow\): identical, [0-9]+ ticks"' "verified" cat report.json
expect 0 '^ego \(gap_follow\): identical, [0-9]+ ticks' "replay" "$bin/replay" "$run"
expect 0 '"identical": true.*"approximate": false' "replay --json" "$bin/replay" --json "$run"
expect 1 'tick [0-9]+ \([0-9.]+ s\): speed_mps was .*ticks differ' "another parameter" "$bin/replay" "$run" --set gap_follow.max_speed_mps=1.5
expect 2 "unknown car .nobody." "another car" "$bin/replay" "$run" --car nobody
expect 0 "/scan +sensor_msgs/msg/LaserScan" "bag info of a run" "$bin/bag" info "$run"
expect 0 'complete|messages on' "bag check of a run" "$bin/bag" check "$run"
expect 1 'FAIL .*timeout after 3' "a parameter that changes on the way" "$bin/run_validation" --scenario gap --quick --timeout 3 --record changed \
  --set cars.ego.changes.slow.at_s=1 --set cars.ego.changes.slow.set=max_speed_mps=1.5
expect 0 'identical, [0-9]+ ticks' "replay of that" "$bin/replay" changed/*
expect 0 '"parameter_changes":\["max_speed_mps=1.5"\]' "the change is in the recording" "$bin/bag" cat "$(echo changed/*)/internal.mcap" --topic /pitwall/tick
rm "$run/internal.mcap"
expect 0 'identical, [0-9]+ ticks \(approximate: no ticks, by arrival times\)' "without ticks" "$bin/replay" "$run"
expect 0 'part: [0-9]+ messages' "convert the bag of a run" "$bin/bag" convert "$run" -o part --format sqlite3
expect 2 'needs --scenario FILE' "a bag alone" "$bin/replay" part
expect 0 '\(approximate: ' "a bag alone with a scenario" "$bin/replay" part --scenario "$run/metadata/files/scenario.yaml"
exit $failed
