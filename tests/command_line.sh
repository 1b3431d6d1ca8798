#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The command line as users and CI meet it: exit codes, one message that names what is wrong and offers the nearest valid
# name, files written whole, interrupt, jobs, reruns. Usage: command_line.sh BIN_FOLDER
set -uo pipefail
bin=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
  echo "FAILED: $1"
  sed 's/^/    /' out err 2>/dev/null
  failures=$((failures + 1))
}
# expect NAME CODE PATTERN COMMAND...: exit code, and a pattern in stdout or stderr.
expect() {
  local name=$1 code=$2 pattern=$3
  shift 3
  "$@" >out 2>err </dev/null
  local got=$?
  [[ $got -eq $code ]] || { fail "$name: exit code $got, expected $code"; return; }
  cat out err | grep -qE -- "$pattern" || fail "$name: output lacks '$pattern'"
}
run() { "$bin/run_validation" --quiet "$@"; }

expect "help has an example" 0 "Example" "$bin/run_validation" --help
expect "version" 0 "[0-9]+\.[0-9]+" "$bin/run_validation" --version
expect "a wrong flag offers the nearest" 2 "did you mean '--tracks'" run --track x
expect "an unknown scenario offers the nearest" 2 "did you mean 'gap'" run --scenario gab
expect "an unknown track offers the nearest" 2 "did you mean 'indoor_oval'" run --tracks indor_oval
expect "an unknown car lists the known ones" 2 "unknown car 'rb3'.*rb2" run --car rb3
expect "an unknown fidelity" 2 "--fidelity.*legacy, plant, car" run --fidelity real
expect "an optimised line that does not exist" 2 "no optimised line" run --raceline optimized --quick --scenario pure
expect "an unknown key of --set offers the nearest" 2 "did you mean 'gap_follow.max_speed_mps" run --scenario gap --quick --set gap_follow.max_sped_mps=2
expect "a value out of range names the range" 2 "gap_follow.max_speed_mps = -3.*allowed" run --scenario gap --quick --set gap_follow.max_speed_mps=-3
expect "--set without =" 2 "key=value" run --set nonsense
expect "seed out of range" 2 "seed" run --seed -1
expect "jobs out of range" 2 "jobs" run --jobs 0
expect "a missing suite file" 2 "missing.yaml" run --scenario missing.yaml
expect "a start in a wall is refused" 2 "ego" run --scenario gap --quick --set cars.ego.start_lateral_m=1.1
expect "the report cannot be written" 2 "cannot" run --scenario gap --quick --timeout 1 --output /proc/nowhere/report.json
expect "the list names what ships" 0 "circuits" run --list

# A timeout fails with when, where and why.
expect "a timeout is a failure that says so" 1 "FAIL .*timeout.* at t = 2" run --scenario gap --quick --timeout 2 --jobs 1
# Files, and a rerun of the resolved scenario.
run --scenario pure --tracks indoor_oval --timeout 6 --output a/report.json --junit a/junit.xml >out 2>err
[[ $? -le 1 && -s a/report.json && -s a/junit.xml ]] || fail "report and JUnit are written into new folders"
python3 - <<'PY' 2>err || fail "the JSON report parses and has the promised fields"
import json
report = json.load(open("a/report.json"))
assert report["schema_version"] == 2
for key in ("seed", "control_rate_hz", "fidelity_profile", "lidar_beams", "surface_friction", "grip_limit_mps2", "unmeasured_parameters", "passed", "results"):
    assert key in report, key
result = report["results"][0]
for key in ("scenario track seed passed collision laps sim_time_s wall_time_s steps fidelity_profile contact_steps grip_limit_mps2 grip_limit_g grip_limited_steps "
            "grip_limited_fraction max_demanded_lateral_mps2 max_allowed_lateral_mps2 min_lateral_budget_mps2 max_pose_error_m dropped_beams max_cross_track_m "
            "min_forward_scan_m mean_corridor_offset_m corridor_samples stop_steps avoid_steps profile_min_mps profile_max_mps estimated_lap_time_s "
            "opponent_collision opponent_laps detection_steps overtake_starts declined_overtakes completed_passes overtake_active_at_end last_pass_side "
            "accumulated_progress_m track_length_m progress_laps min_commanded_speed_mps max_commanded_speed_mps final_speed_mps final_pose contact_at_s "
            "contact_longitudinal_m contact_lateral_m contact_speed_mps contact_during_overtake contact_safety_tier contact_forward_scan_m trace_hash").split():
    assert key in result, key
import xml.dom.minidom
xml.dom.minidom.parse("a/junit.xml")
PY
resolved=(a/report.resolved/*.yaml)
[[ -s "${resolved[0]}" ]] || fail "the resolved scenario is written"
run --scenario "${resolved[0]}" >out 2>err
[[ $? -le 1 ]] && ! grep -q diverged err || fail "the resolved scenario runs again to the same trace hash"
expect "a resolved scenario refuses overrides" 2 "pins everything" run --scenario "${resolved[0]}" --seed 3
sed 's/trace_hash: [0-9a-f]*$/trace_hash: 0000000000000000/' "${resolved[0]}" >changed.yaml
expect "another trace hash is a divergence" 1 "diverged" run --scenario changed.yaml
sed 's/track_hash: [0-9a-f]*$/track_hash: 0000000000000000/' "${resolved[0]}" >changed.yaml
expect "changed track contents are refused" 2 "track_hash" run --scenario changed.yaml

# The number of workers changes nothing.
run --scenario all --quick --timeout 8 --json --jobs 1 2>/dev/null | grep -o '"trace_hash":"[0-9a-f]*"' >one
run --scenario all --quick --timeout 8 --json --jobs 2 2>/dev/null | grep -o '"trace_hash":"[0-9a-f]*"' >two
[[ -s one ]] && cmp -s one two || fail "--jobs 1 and --jobs 2 give the same trace hashes in the same order"

# Interrupt: what is finished is reported, nothing half-written.
"$bin/run_validation" --quiet --scenario gap --quick --repeat-seeds 1000 --timeout 1 --jobs 1 --output b/report.json --resolved b/resolved >out 2>err &
pid=$!
while [[ $(wc -l <out) -lt 3 ]] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
kill -INT $pid
wait $pid
[[ $? -eq 130 ]] || fail "an interrupt exits with 130"
grep -q "interrupted" out || fail "an interrupt says how far it got"
python3 -c 'import json; r = json.load(open("b/report.json")); assert r["interrupted"] and r["results"] and not r["passed"]' 2>err || fail "an interrupted run reports what is finished"
[[ -z "$(find . -name '*.part*')" ]] || fail "no half-written file is left"

if [[ $failures -eq 0 ]]; then echo "all command line checks passed"; else echo "$failures checks failed"; exit 1; fi
