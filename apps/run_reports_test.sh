#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_reports_test.sh BIN WORK: a run is recorded and judged by the reports that are gates; as a shell sees it.
bin=$1
work=$2
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
failed=0

# expect EXIT PATTERN WHAT COMMAND...
expect() {
  code=$1 pattern=$2 what=$3
  shift 3
  output=$("$@" 2>&1)
  got=$?
  if [ "$got" -ne "$code" ] || ! printf '%s\n' "$output" | tr '\n' ' ' | grep -Eq -- "$pattern"; then
    printf 'FAILED %s: exit code %s (expected %s), pattern %s\n%s\n' "$what" "$got" "$code" "$pattern" "$output"
    failed=1
  fi
}

expect 0 '1 of 1 scenarios passed' "record" "$bin/run_validation" --scenario gap --tracks indoor_oval --record runs --output report.json
run=$(echo runs/*)

expect 0 'wheels: /odom - scans: match /scan.*speed bound \[m/s\]: 4.6000.*Speeds by scans' "health" "$bin/odom_health" "$run" --max-speed 4 --max-excursions 0 --max-path-difference 5
expect 0 '"over_ordinary": [0-9.]+.*"histogram": \[' "health as JSON" "$bin/odom_health" "$run" --json
expect 1 'FAIL .*difference of speed, p99 [0-9.]+ m/s, allowed is 0.01 m/s' "health as a gate" "$bin/odom_health" "$run" --max-residual 0.01
expect 2 "unknown source 'odom'; did you mean '/odom'" "no such source" "$bin/odom_health" "$run" --wheels odom
expect 2 'compared with itself' "one source twice" "$bin/odom_health" "$run" --wheels /odom --scans /odom
expect 2 '/no/such/run: no such.*Health of the odometry' "one of two is none" "$bin/odom_health" "$run" /no/such/run
expect 0 'excursions: 0' "excursions" "$bin/icp_excursions" "$run" --max-excursions 0
expect 0 'wrote gated.*path before' "gate" "$bin/icp_gate_replay" "$run" gated --max-speed 4
expect 2 'gated: exists' "gate, twice" "$bin/icp_gate_replay" "$run" gated
expect 0 'scans: odom->base_footprint' "what the gate wrote" "$bin/odom_health" gated
expect 0 'Differences over moving windows' "slip" "$bin/slip_replay" "$run" --max-speed 4
expect 2 "unknown key .slip_monitor.slip_mp.; did you mean .slip_monitor.slip_mps" "slip, wrong key" sh -c "printf 'slip_mp: 1\n' >s.yaml && '$bin/slip_replay' '$run' --config s.yaml"
line=$bin/../share/pitwall/tracks/indoor_oval/indoor_oval_centerline.csv
expect 0 'wrote laps.csv.*part of a lap' "laps" "$bin/path_metrics" "$run" --line "$line" --history laps.csv
expect 1 'in a row, too many are 1' "laps as a gate" "$bin/path_metrics" "$run" --line "$line" --history laps.csv --max-cte 0.01 --consecutive 1
expect 0 'goals and laps: 1' "laps once" "$bin/path_metrics" "$run" --line "$line" --history laps.csv --max-cte 2
expect 0 'scenario: gap_solo.*internal.mcap +. yes.*ego +. [0-9]{3}.*/scan ' "summary" "$bin/summarize_run" "$run"
expect 0 '"stop_ticks": [0-9]' "summary as JSON" "$bin/summarize_run" "$run" --json
expect 2 'no plan: there is no /plan' "no plan" "$bin/path_metrics" "$run"
exit $failed
