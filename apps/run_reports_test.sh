#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_reports_test.sh BIN WORK: a run is recorded and judged by the reports that are gates; as a shell sees it.
. "$(dirname "$0")/../tests/support/expect.sh"

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
expect 1 'FAIL .*goals or laps in a row with a mean cross-track error above 0.01 m [1-9]+, allowed is 0' "laps as a gate" "$bin/path_metrics" "$run" --line "$line" --history laps.csv --max-cte 0.01 --consecutive 1
expect 0 'goals and laps: 1' "laps once" "$bin/path_metrics" "$run" --line "$line" --history laps.csv --max-cte 2
expect 0 'scenario: gap_solo.*internal.mcap +. yes.*ego +. [0-9]{3}.*/scan ' "summary" "$bin/summarize_run" "$run"
expect 0 '"stop_ticks": [0-9]' "summary as JSON" "$bin/summarize_run" "$run" --json
expect 2 'no plan: there is no /plan' "no plan" "$bin/path_metrics" "$run"

# The reports on one run.
expect 0 'Turn rates beside each other.*scans.*truth.*Localiser less odometry' "IMU" "$bin/imu_report" "$run"
expect 1 'FAIL scale less 1 of gyro /imu beside (scans|truth) .*, allowed is 0' "IMU as a gate" "$bin/imu_report" "$run" --max-scale-error 0
expect 0 '"pairs": \[.*"identifiable": true' "IMU as JSON" "$bin/imu_report" "$run" --json
expect 2 "unknown role 'imo'; did you mean 'imu'" "IMU, no such role" "$bin/imu_report" "$run" --topic imo=/imu
expect 0 'How turning answers steering.*What it would replace.*imu_gyro_scale_error = 0.01' "spectrum" "$bin/imu_spectrum" "$run"
expect 1 'FAIL gyro noise density' "spectrum as a gate" "$bin/imu_spectrum" "$run" --max-gyro-noise 0
expect 0 '"frequencies": \[.*"coherence": 0\.' "spectrum as JSON" "$bin/imu_spectrum" "$run" --json
expect 2 '--wheel-radius' "spectrum, wheel of a metre" "$bin/imu_spectrum" "$run" --wheel-radius 3
expect 0 'read from .*motion.npz' "spectrum, cached" "$bin/imu_spectrum" "$run"
expect 0 'made: .*motion.npz' "spectrum, refreshed" "$bin/imu_spectrum" "$run" --refresh
for written in imu_report.md imu_report.json imu_spectrum.md imu_spectrum.json imu_spectrum.npz; do
  [ -s "$run/analysis/$written" ] || { printf 'FAILED: no %s\n' "$written" && failed=1; }
done
expect 0 'Turns.*gyro' "turns" "$bin/yaw_tracking" "$run"
expect 1 'FAIL lag by ' "turns as a gate" "$bin/yaw_tracking" "$run" --max-lag-ms 0
expect 0 '"turns": [1-9]' "turns as JSON" "$bin/yaw_tracking" "$run" --json
expect 0 'Against the truth.*wheels alone' "estimator" "$bin/estimator_replay" "$run" --set gyro_sigma_radps=0.02
expect 1 "FAIL speed rms of 'as it is' against the truth" "estimator as a gate" "$bin/estimator_replay" "$run" --max-speed-rms 0.0001
expect 2 "did you mean '--set.gyro_sigma_radps'" "estimator, wrong name" "$bin/estimator_replay" "$run" --set gyro_sigma_radp=0.02
printf 'imus: {only: {topic: /imu}}\n' >rig.yaml
expect 0 'IMU: rig' "estimator with a rig" "$bin/estimator_replay" "$run" --imu-rig rig.yaml
printf 'imus: {only: {topic: /imo}}\n' >rig.yaml
expect 2 "rig.yaml: imus.only: unknown IMU '/imo'; did you mean '/imu'" "estimator, wrong rig" "$bin/estimator_replay" "$run" --imu-rig rig.yaml
expect 1 'FAIL .*: excursions [0-9]' "excursions as a gate" "$bin/icp_excursions" "$run" --max-speed 0.5 --max-excursions 0
expect 0 '"jump' "excursions as JSON" "$bin/icp_excursions" "$run" --max-speed 0.5 --json
expect 1 'FAIL .*: steps replaced [0-9]' "gate as a gate" "$bin/icp_gate_replay" "$run" --max-speed 0.5 --max-replaced 0
expect 0 '"verdicts"' "slip as JSON" "$bin/slip_replay" "$run" --max-speed 4 --json
expect 1 'FAIL .*: verdicts [0-9]' "slip as a gate" sh -c "printf 'max_speed_mps: 0.3\n' >s.yaml && '$bin/slip_replay' '$run' --config s.yaml --max-verdicts 0"

# What is no run, or one without scans, commands or IMU.
mkdir empty broken
printf 'no bag' >broken/x.mcap
for tool in analyze_run imu_report imu_spectrum yaw_tracking estimator_replay path_metrics odom_health icp_excursions icp_gate_replay slip_replay; do
  expect 2 '/no/such/run' "$tool of nothing" "$bin/$tool" /no/such/run
  expect 2 'empty' "$tool of an empty folder" "$bin/$tool" empty
  expect 2 'broken' "$tool of a broken bag" "$bin/$tool" broken
done
printf 's,ns,V,delta\n1,0,1,0\n2,0,1,0\n' >commandData.csv
expect 0 "." "a log of commands alone" "$bin/import_run" . -o commands
expect 2 'no IMU was recorded: no topic of type' "IMU of commands" "$bin/imu_report" commands
expect 2 'no IMU was recorded: no topic of type' "spectrum of commands" "$bin/imu_spectrum" commands
exit $failed
