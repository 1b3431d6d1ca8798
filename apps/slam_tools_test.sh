#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# slam_tools_test.sh BIN WORK: a run is recorded, mapped, replayed to the bit and reported on; as a shell sees it.
. "$(dirname "$0")/../tests/support/expect.sh"

expect 0 '1 of 1 scenarios passed' "record" "$bin/run_validation" --scenario gap --tracks indoor_oval --record runs --output report.json
run=$(echo runs/*)
name=$(basename "$run")
mapped=out/$name-replay-odom-mapped

expect 2 'no /pose: an exact replay needs' "exact without poses" "$bin/slam_replay" "$run" --exact --out-root out
expect 0 "status: done.*map saved: yes" "map" "$bin/slam_replay" "$run" --label mapped --out-root out
expect 2 'mapped: exists; give another --label or --out-root' "map, twice" "$bin/slam_replay" "$run" --label mapped --out-root out
expect 0 'status: exact.*recorded, but not replayed: 0.*SHA-256' "exact" "$bin/slam_replay" "$mapped" --exact --max-position 0 --max-missing 0
expect 0 'status: exact' "all scans" "$bin/slam_replay" "$mapped" --exact --exact-mode all-scans
expect 0 'engine: recorded poses' "the player alone" "$bin/slam_replay" "$mapped" --exact --engine recorded --label player
expect 2 "unknown odometry frame 'odom_im'" "no such odometry" "$bin/slam_replay" "$run" --odom odom_im --out-root out
expect 2 "unknown key .slam.submap_node.; did you mean .slam.submap_nodes" "wrong profile" sh -c "printf 'submap_node: 1\n' >p.yaml && '$bin/slam_replay' '$run' --profile p.yaml --label p --out-root out"
expect 0 '"status": "done"' "replay.json" cat "$mapped/replay.json"
expect 1 'FAIL poses missing' "a gate" "$bin/slam_replay" "$mapped" --rate 50 --cost-ms 100 --label slow --max-missing 0

expect 0 'Corrections and loop closures.*nodes whose walls tell every direction' "report" "$bin/slam_report" "$mapped" --min-consistency 50
expect 0 '"max_at_car_m": [0-9]' "summary" cat "$mapped/analysis/slam_report/summary.json"
expect 1 'FAIL largest move at the car' "report as a gate" "$bin/slam_report" "$mapped" --max-correction 0
expect 2 'the SLAM never published|no transform' "a run without a SLAM" "$bin/slam_report" "$mapped" --odom base_link
expect 2 'needs --out' "compare without --out" "$bin/slam_report" --compare "$mapped" "$mapped-replay-odom-exact"
expect 2 'with itself' "compare with itself" "$bin/slam_report" --compare "$mapped" "$mapped/" --out c
expect 0 'Side by side.*same' "compare" "$bin/slam_report" --compare "$mapped" "$mapped-replay-odom-exact" --out c
expect 0 'B' "compare wrote" cat c/summary.json
exit $failed
