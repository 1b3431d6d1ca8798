#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# analyze_run_test.sh BIN WORK: a run is recorded, analysed, changed, damaged; as a shell sees it.
. "$(dirname "$0")/../tests/support/expect.sh"
# there FILE...: what a program says it wrote is there.
there() {
  for file in "$@"; do
    if [ ! -s "$file" ]; then
      printf 'FAILED: no %s\n' "$file"
      failed=1
    fi
  done
}

# A run that stops a lot: time to collision far too long.
expect 1 'FAIL .*timeout after 6' "record" "$bin/run_validation" --scenario gap --tracks indoor_oval --timeout 6 --set gap_follow.ttc_threshold_s=1.5 \
  --set gap_follow.ttc_path_margin_m=0.3 --record runs --output report.json
run=$(echo runs/*)

expect 0 'decisions reproduced to the bit \[%\]: 100.00.*safety +\| ttc_brake.*cache made: .*wrote .*hold_01.svg' "analyse" "$bin/analyze_run" "$run"
there "$run/analysis/report.md" "$run/analysis/report.json" "$run/analysis/hold_01.svg" "$run/analysis/run.npz"
expect 0 'cache read from' "from the cache" "$bin/analyze_run" "$run"
expect 0 'cache made: .*--refresh' "refresh" "$bin/analyze_run" "$run" --refresh --no-plots
expect 0 '"key": "hold".*"false_alarms": [0-9]+' "json" "$bin/analyze_run" "$run" --json
expect 0 'stop ticks with it: [0-9]+.*removed: [1-9][0-9]*.*added: [0-9]+.*ttc_path_margin_m \| 0.3 +\| 0' "what if" \
  "$bin/analyze_run" "$run" --no-plots --set ttc_path_margin_m=0
expect 0 'warning: --set ttc_path_margin_m=0.3 changes nothing' "nothing changed" "$bin/analyze_run" "$run" --no-plots --set ttc_path_margin_m=0.3
expect 0 'Closed loop.*stop ticks +\| [1-9]' "closed loop" "$bin/analyze_run" "$run" --no-plots --set ttc_path_margin_m=0 --closed-loop
expect 0 'decisions reproduced to the bit \[%\]: 100.00' "the run of the closed loop" "$bin/analyze_run" "$run/analysis/closed_loop" --no-plots
expect 0 'parameters: --yaml p.yaml' "yaml" sh -c "printf 'gap_follow: {ttc_threshold_s: 0.35}\n' > p.yaml && '$bin/analyze_run' '$run' --no-plots --yaml p.yaml"

# Bad usage and bad input: one message, exit code 2.
expect 2 'did you mean .--closed-loop.' "wrong flag" "$bin/analyze_run" "$run" --closed-lop
expect 2 'needs a change' "closed loop of nothing" "$bin/analyze_run" "$run" --closed-loop
expect 2 "unknown key .gap_follow.ttc_treshold_s.; did you mean .gap_follow.ttc_threshold_s" "unknown parameter" "$bin/analyze_run" "$run" --set ttc_treshold_s=1
expect 2 'ttc_threshold_s.*much' "no number" "$bin/analyze_run" "$run" --set ttc_threshold_s=much
expect 2 '0.1 .. 2' "out of range" "$bin/analyze_run" "$run" --set ttc_threshold_s=5
expect 2 'none.yaml' "no yaml" "$bin/analyze_run" "$run" --yaml none.yaml
expect 2 "no section .gap_follow.; there are: pure_pursuit" "yaml of another" sh -c "printf 'pure_pursuit: {}\n' > q.yaml && '$bin/analyze_run' '$run' --yaml q.yaml"
expect 2 'r.yaml:2' "yaml that is none" sh -c "printf 'gap_follow: {a: [\n' > r.yaml && '$bin/analyze_run' '$run' --yaml r.yaml"
expect 2 '--hold 9: there are 1 holds' "no such hold" "$bin/analyze_run" "$run" --hold 9
expect 2 "did you mean .scan." "no such role" "$bin/analyze_run" "$run" --topic scam=/scan
expect 2 "unknown topic ./scn." "no such topic" "$bin/analyze_run" "$run" --topic scan=/scn
expect 2 "unknown car .nobody." "no such car" "$bin/analyze_run" "$run" --run-car nobody
expect 2 '/no/such/run' "no such folder" "$bin/analyze_run" /no/such/run
expect 2 'empty' "no bag in the folder" sh -c "mkdir -p empty && '$bin/analyze_run' empty"

# Bags that lack something.
only() {
  name=$1
  shift
  "$bin/bag" convert "$run" -o "$name" "$@" >>convert.txt 2>&1
}
only no_scans --topic /drive --topic /odom --topic /joy
expect 2 'no scans to analyse: no /scan' "no scans" "$bin/analyze_run" no_scans
only no_commands --topic /scan --topic /odom --topic /joy
expect 2 'no commands to analyse: none of /ackermann_cmd, /drive, /cmd_vel' "no commands" "$bin/analyze_run" no_commands
only no_odometry --topic /scan --topic /drive
expect 0 'no deadman hold was found.*odometry +\| no /odom' "no odometry, no joystick" "$bin/analyze_run" no_odometry --no-plots
expect 1 'odometry +\| no /odom' "the same, strictly" "$bin/analyze_run" no_odometry --no-plots --strict

# A bag alone, by arrival times: the same decisions with the same scenario, others with the defaults.
"$bin/bag" convert "$run" -o alone >>convert.txt 2>&1
expect 0 'replay by ticks, exact: no.*reproduced to the bit \[%\]: 100.00' "a bag alone" "$bin/analyze_run" alone --no-plots --scenario "$run/metadata/files/scenario.yaml"
expect 0 'does not say with which parameters' "a bag alone, defaults" "$bin/analyze_run" alone --no-plots

# Cut in the middle: what can be read is analysed, and said.
mkdir -p cut && cp "$run"/bag/*.mcap cut/ && for f in cut/*.mcap; do size=$(wc -c <"$f"); head -c $((size * 3 / 5)) "$f" >cut/cut && mv cut/cut "$f"; done
expect 0 'the recording is damaged.*Hold 1' "damaged" sh -c "'$bin/analyze_run' cut --no-plots 2>&1"
printf 'no bag at all' >cut/x.mcap && rm -f cut/b*.mcap
expect 2 'x.mcap' "no bag at all" "$bin/analyze_run" cut/x.mcap
exit $failed
