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
expect "an optimised line that does not exist" 2 "no optimised line" run --raceline optimized --tracks indoor_oval --scenario pure
expect "an unknown key of --set offers the nearest" 2 "did you mean 'gap_follow.max_speed_mps" run --scenario gap --quick --set gap_follow.max_sped_mps=2
expect "a value out of range names the range" 2 "gap_follow.max_speed_mps = -3.*allowed" run --scenario gap --quick --set gap_follow.max_speed_mps=-3
expect "--set without =" 2 "key=value" run --set nonsense
expect "seed out of range" 2 "seed" run --seed -1
expect "jobs out of range" 2 "jobs" run --jobs 0
expect "a missing suite file" 2 "missing.yaml" run --scenario missing.yaml
expect "a start in a wall is refused" 2 "ego" run --scenario gap --quick --set cars.ego.start_lateral_m=1.1
expect "the report cannot be written" 2 "cannot" run --scenario gap --quick --timeout 1 --output /proc/nowhere/report.json
# 0.8 m to the left is free on larkfield and in the wall of the narrow indoor_tight: what finished first is kept.
expect "bad input that a later run meets is refused" 2 "ego" run --scenario gap --tracks larkfield indoor_tight --timeout 1 --jobs 1 --set cars.ego.start_lateral_m=0.8 --output late/report.json
python3 -c 'import json; r = json.load(open("late/report.json")); assert len(r["results"]) == 1 and r["scenarios"] == 2 and not r["passed"]' 2>err || fail "what finished before bad input is reported"
expect "the list names what ships" 0 "circuits" run --list

# Lines that nobody can follow, of a track of the user's own.
bad_line() {  # NAME PATTERN SED-SCRIPT: the centre line of indoor_oval, changed
  rm -rf bad && mkdir bad && cp -rL "$bin/../share/pitwall/tracks/indoor_oval" bad && chmod -R u+w bad
  sed -i "$3" bad/indoor_oval/indoor_oval_centerline.csv
  expect "$1" 2 "indoor_oval_centerline.csv.*$2" run --scenario pure --tracks bad/indoor_oval --timeout 1
}
bad_line "a line with a gap" "a gap of" '100,140d'
bad_line "a line that crosses itself" "crosses itself" '100{h;d};108{G}'
bad_line "a line with a point twice" "same point" '100p'
bad_line "a line with nan" "finite" '100s/^[^,]*/nan/'
bad_line "a line of two points" "2 points" '4,$d'

# What would be ignored, or end in something else than a message.
short=(--scenario gap --quick --timeout 1)
for flag in --scenario --tracks --car --output --junit --resolved --set; do
  expect "$flag with an empty value" 2 "$flag: an empty value" run --quick --timeout 1 "$flag" ""
done
for value in nan inf 0 1e7 5s 0x10; do
  expect "--timeout $value" 2 "timeout = $value: allowed: 0.1" run --scenario gap --quick --timeout "$value"
done
for value in 1e3 1.5 99999999999999999999 9000000000000001; do
  expect "--seed $value" 2 "seed = $value: a whole number, allowed: 0" run --scenario gap --quick --seed "$value"
done
expect "seeds beyond the largest" 2 "repeat-seeds 2: from seed 9000000000000000" run "${short[@]}" --seed 9000000000000000 --repeat-seeds 2
expect "a flag and --set that say the same" 2 "--timeout says the same" run "${short[@]}" --set timeout_s=3
expect "a seed said twice" 2 "--seed says the same" run "${short[@]}" --seed 3 --set world.seed=4
expect "centring said twice" 2 "--no-centering says the same" run "${short[@]}" --no-centering --set gap_follow.enable_centering=true
printf 'mine:\n  car: rb1\n  track: larkfield\n  cars: {ego: {controller: gap_follow}}\n' >suite.yaml
expect "--car for a scenario with a car of its own" 2 "--car rb2: scenario 'mine' has its own car, rb1" run --scenario suite.yaml --car rb2
expect "--tracks for scenarios with tracks of their own" 2 "--tracks: every scenario has its own track, such as 'larkfield'" run --scenario suite.yaml --tracks salt_quay
expect "an id that is a path" 2 "id = '../x': allowed" run "${short[@]}" --set id=../x
expect "an empty id" 2 "id = '': allowed" run "${short[@]}" --set id=
expect "a car name that is a path" 2 "name 'a/b': allowed" run "${short[@]}" --set cars.a/b.controller=gap_follow
expect "both reports in one file" 2 "--junit ./x: is the file of --output" run "${short[@]}" --output x --junit ./x
expect "a report that is the resolved folder" 2 "--resolved x: is the file of a report" run "${short[@]}" --output x --resolved x
touch file
expect "a resolved folder that is a file, before any run" 2 "^[^P]*error: file/resolved.yaml: cannot be written" run "${short[@]}" --resolved file
grep -q FAIL out && fail "outputs are checked before the work"
mkfifo pipe
for flag in --output --junit; do expect "$flag into a pipe" 2 "pipe: cannot write: is a device, pipe or socket" run "${short[@]}" $flag pipe; done
[[ -p pipe ]] || fail "a pipe stays a pipe"
ln -s pipe pipe.yaml
expect "a car that is a pipe" 2 "pipe.yaml: is a device, pipe or socket" run "${short[@]}" --car pipe.yaml
ln -s linked.json link
run "${short[@]}" --output link >out 2>err
[[ -L link && -s linked.json ]] || fail "a report goes where a link points to"

# A standard output that cannot be written is no pass, and costs no report.
"$bin/run_validation" --list >/dev/full 2>err
[[ $? -eq 2 ]] && grep -q "stdout: cannot write" err || fail "a full device as stdout is an error"
run "${short[@]}" --repeat-seeds 3 --jobs 1 --output unread.json 2>err | :
[[ ${PIPESTATUS[0]} -eq 2 && -s unread.json ]] || fail "a reader that has gone costs neither report nor exit code"

# A car given by file is found again from another folder.
cp "$bin/../share/pitwall/cars/rb2.yaml" own.yaml
run "${short[@]}" --car own.yaml --resolved own >out 2>err
(cd / && run --scenario "$work"/own/*.yaml --resolved "$work/own2") >out 2>err
[[ $? -le 1 ]] && ! grep -qE "diverged|error" err || fail "a resolved scenario with a car file runs from another folder"
sed '/mass_kg/d' own.yaml >damaged.yaml
expect "a car yaml without one of its keys" 2 "damaged.yaml.*mass_kg is missing" run "${short[@]}" --car damaged.yaml
PITWALL_CAR=garbage expect "PITWALL_CAR that names no car" 2 "unknown car 'garbage'.*rb2" run "${short[@]}"

# Names that are no UTF-8 still give JSON and XML.
odd=$(printf 'odd\xff')
mkdir "$odd"
cp "$bin/../share/pitwall/tracks/indoor_oval/"*.pgm "$odd/"
cp "$bin/../share/pitwall/tracks/indoor_oval/indoor_oval_centerline.csv" "$odd/${odd}_centerline.csv"
cp "$bin/../share/pitwall/tracks/indoor_oval/"*.yaml "$odd/${odd}_map.yaml"
run --scenario gap --timeout 1 --tracks "$odd" --output odd.json --junit odd.xml >out 2>err
[[ $? -eq 1 ]] && python3 -c 'import json, xml.dom.minidom; json.load(open("odd.json")); xml.dom.minidom.parse("odd.xml")' 2>err || fail "names that are no UTF-8 are replaced in the reports"

# A turned map is the same map: origin and lines by 0.7 rad, driven as before, one way of naming it after the other.
python3 - "$bin/../share/pitwall/tracks/indoor_oval" turned 0.7 <<'PY'
import math, os, re, shutil, sys
source, target, yaw = sys.argv[1], sys.argv[2], float(sys.argv[3])
os.mkdir(target)
turn = lambda x, y: (math.cos(yaw) * x - math.sin(yaw) * y, math.sin(yaw) * x + math.cos(yaw) * y)
text = open(f"{source}/indoor_oval_map.yaml").read()
x, y, a = (float(v) for v in re.search(r"origin:\s*\[(.*?)\]", text).group(1).split(","))
open(f"{target}/turned_map.yaml", "w").write(re.sub(r"origin:.*", f"origin: [{turn(x, y)[0]!r}, {turn(x, y)[1]!r}, {a + yaw!r}]", text))
shutil.copy(f"{source}/indoor_oval_map.pgm", target)
with open(f"{target}/turned_centerline.csv", "w") as out:
    for line in open(f"{source}/indoor_oval_centerline.csv"):
        row = line.strip().split(",")
        out.write(line if line.startswith("#") else ",".join([repr(v) for v in turn(float(row[0]), float(row[1]))] + row[2:]) + "\n")
PY
for scenario in gap pure; do
  run --scenario $scenario --tracks indoor_oval ./turned turned/turned_map.yaml --timeout 60 --json >out 2>err
  python3 - 2>err <<'PY' || fail "$scenario drives a turned map as the straight one"
import json
straight, turned, again = (json.loads(line) for line in open("out").read().splitlines()[:3])
assert straight["passed"] and turned["passed"], (straight["failure"], turned["failure"])
assert abs(straight["lap_time_s"] - turned["lap_time_s"]) < 0.3, (straight["lap_time_s"], turned["lap_time_s"])
assert turned["trace_hash"] == again["trace_hash"]
PY
done

# The contact policies by --set: whatever the policy, a contact fails the run.
for policy in record respond stop; do
  run --scenario gap --tracks indoor_oval --fidelity plant --timeout 5 --json --set world.on_contact=$policy --set cars.ego.start_heading_rad=-0.8 --set cars.ego.start_speed_mps=10 >out 2>err
  code=$?
  POLICY=$policy CODE=$code python3 - 2>err <<'PY' || fail "world.on_contact=$policy"
import json, os
result = json.loads(open("out").readline())
assert os.environ["CODE"] == "1" and not result["passed"] and result["collision"], result["failure"]
assert "touched the wall" in result["failure"]["what"], result["failure"]
# stop: the step of the touch is the last; record: through the wall and off the map; respond: back from it, until the end.
policy = os.environ["POLICY"]
assert (result["contact_steps"] == 1) == (policy == "stop"), result["contact_steps"]
assert result["off_map"] == (policy == "record")
assert (result["sim_time_s"] == 5.0) == (policy == "respond"), result["sim_time_s"]
PY
done

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

# While it still plans, too, and a second one changes nothing.
for wait_s in 0 0.03 0.3; do
  "$bin/run_validation" --quiet --scenario all --repeat-seeds 10000 --timeout 1 --output c/report.json >out 2>err &
  pid=$!
  disown
  sleep 0.05 && sleep $wait_s
  kill -TERM $pid && kill -TERM $pid 2>/dev/null
  for _ in $(seq 100); do kill -0 $pid 2>/dev/null || break; sleep 0.1; done
  kill -9 $pid 2>/dev/null && fail "an interrupt while planning ends the program"
done
[[ -z "$(find . -name '*.part*' -o -name '*.probe*')" ]] || fail "no half-written file is left by an early interrupt"

if [[ $failures -eq 0 ]]; then echo "all command line checks passed"; else echo "$failures checks failed"; exit 1; fi
