#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# map_course_test.sh BIN WORK: a drive becomes a track that is raced on at once; what cannot be raced on leaves nothing but its reason.
. "$(dirname "$0")/../tests/support/expect.sh"
export PITWALL_TRACKS="$work/own"

expect 0 'lap 1: closed after 2[0-9.]+ m.*lap 2: closed.*line: lap 2, 2[678][0-9.]* m.*optimised line: taken.*PASS +loft: wrote' "simulated" \
  "$bin/map_course" --simulate indoor_oval --name loft --optimise --record runs/drive --analysis --quiet
for file in loft_map.yaml loft_map.pgm loft_centerline.csv loft_raceline.csv loft_raceline_optimized.csv raceline_raw.csv raceline_profiled.csv \
  trajectory.tum course.json; do
  expect 0 '' "$file" test -s "own/loft/$file"
done
expect 0 'Corrections and loop closures' "report in the run folder" cat runs/drive/analysis/slam_report/slam_report.md
expect 0 'PASS +pure_solo +loft' "raced at once" "$bin/run_validation" --scenario pure --tracks loft --localization scan --quiet
expect 0 'PASS +pure_solo +loft' "on the optimised line" "$bin/run_validation" --scenario pure --tracks own/loft --raceline optimized --quiet
expect 2 'loft exists; --force' "not over another" "$bin/map_course" runs/drive --name loft
# The same drive from its recording: the same poses, whatever the folder.
expect 0 'PASS +loft' "over another" "$bin/map_course" runs/drive --name loft --force --quiet
cp own/loft/trajectory.tum first.tum
expect 0 '"passed": true' "JSON" "$bin/map_course" runs/drive --name again --out elsewhere --json
expect 0 '' "same bytes" cmp first.tum elsewhere/again/trajectory.tum
expect 0 '' "same map" cmp own/loft/loft_map.pgm elsewhere/again/again_map.pgm
# A bag of scans and odometry alone: the odometry is the transform, the car's profile knows the mount.
"$bin/bag" convert runs/drive --topic /scan --topic /odom -o bare >/dev/null
expect 0 "no transform says where the scanner .laser. sits; taken from the profile.*PASS +bare" "scans and odometry alone" \
  "$bin/map_course" bare --name bare --quiet
expect 0 '' "as with transforms" cmp first.tum own/bare/trajectory.tum

# Half a lap: a reason, a report, no track.
"$bin/run_validation" --scenario gap --tracks indoor_oval --timeout 8 --record half --quiet >/dev/null
expect 1 'lap 1: not closed: turned [0-9.]+ deg, needed 300 deg; lasted [0-9.]+ s, needed 15 s.*FAIL +half: no lap was closed.*nothing was stored' \
  "half a lap" sh -c "'$bin/map_course' half/* --name half --analysis --quiet"
expect 0 'heading drift|Heading drift' "its report" sh -c 'cat half/*/analysis/slam_report/slam_report.md'
expect 1 '' "no track of it" test -e own/half
expect 1 '' "and no rest" test -e own/half.part
expect 2 'unknown key .mapping.laps.turn.; did you mean .*mapping.laps.turned_rad' "wrong parameter" \
  sh -c "echo 'laps: {turn: 1}' >p.yaml && '$bin/map_course' runs/drive --name p --parameters p.yaml"
expect 1 'lap 1: not closed: driven 5[0-9.]+ m, needed 500 m.*FAIL +p: no lap was closed' "stricter rules" \
  sh -c "echo 'laps: {distance_m: 500}' >p.yaml && '$bin/map_course' runs/drive --name p --parameters p.yaml"
expect 2 'holds no recording|no such file' "no run" "$bin/map_course" /no/such/run --name x
exit $failed
