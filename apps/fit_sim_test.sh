#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fit_sim_test.sh BIN WORK: a simulated run is recorded and fitted; as a shell sees it.
. "$(dirname "$0")/../tests/support/expect.sh"

expect 0 '1 of 1 scenarios passed' "record" "$bin/run_validation" --scenario gap --tracks indoor_oval --record runs --output report.json
run=$(echo runs/*)

few="--fix all --free steering_delay_s --free steering_gain --starts 1"
expect 0 'scan matching, [0-9]+ pairs.*steering_gain .*One second ahead.*less by' "fit" "$bin/fit_sim" "$run" $few --out out --surface hall --write car.yaml
expect 0 'held out' "picture" cat out/residuals_*.svg
expect 0 'steering_gain: .value: [0-9.]+, unit: "", provenance: MEASURED, source: "fit_sim [^"]*hall: ' "fragment" cat car.yaml
expect 0 'wrote [12] values' "over its own" "$bin/fit_sim" "$run" $few --write car.yaml
sed 's/value: [0-9.]*/value: 0.77/' car.yaml >edited.yaml
expect 2 'edited.yaml:[0-9]+: steering_[a-z_]+ was set by hand.*--force' "over a hand's" "$bin/fit_sim" "$run" $few --write edited.yaml
expect 0 'wrote [12] values' "by force" "$bin/fit_sim" "$run" $few --write edited.yaml --force
"$bin/fit_sim" "$run" $few --jobs 1 --json >one.json 2>/dev/null
"$bin/fit_sim" "$run" $few --jobs 3 --json >three.json 2>/dev/null
cmp one.json three.json || { echo "FAILED jobs change nothing"; failed=1; }
expect 0 'combinations: 9.*speed_delay_ticks.*score held out' "grid" "$bin/fit_sim" "$run" --grid speed_delay_ticks=1,2,4 --grid steering_delay_ticks=1,3,5
expect 0 'Laps in the simulator.*pure_solo.*before.*after' "validate" "$bin/fit_sim" "$run" $few --validate --tracks indoor_oval
expect 2 "unknown parameter 'steering_gian'; did you mean 'steering_gain'" "unknown name" "$bin/fit_sim" "$run" --free steering_gian
expect 2 'combinations; allowed: up to 1e\+06' "too large a grid" "$bin/fit_sim" "$run" $(for n in 1 2 3; do :; done) --grid steering_gain=$(seq -s, 0.5 0.001 1.501) --grid surface_friction=$(seq -s, 0.2 0.001 1.2)

# A run that stands still.
mkdir still && { echo 's,ns,V,delta'; seq 1 40 | sed 's/$/,0,0,0/'; } >still/commandData.csv
{ echo 's,ns,vx,vy,vz,wx,wy,wz,x,y,q.x,q.y,q.z,q.w'; seq 1 0.5 40 | sed 's/\..*//' | awk '{n[$1]++; printf "%d,%d,0,0,0,0,0,0,0,0,0,0,0,1\n", $1, (n[$1] - 1) * 500000000}'; } >still/odomData.csv
expect 2 'still: 0 s of motion with commands, too little for a fit; needed: 10 s' "no motion" "$bin/fit_sim" still
exit $failed
