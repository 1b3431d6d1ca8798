#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# golden_slam.sh BIN GOLDEN WORK SCENARIO: makes the recording of a scenario and plays it into our SLAM against the golden files. Exit code
# 77 where the log is not there; PITWALL_UPDATE_GOLDEN=1 writes the golden files instead.
set -eu
bin=$1 golden=$2 work=$3 scenario=$4
rm -rf "$work" && mkdir -p "$work/data" && cd "$work"
case $scenario in
indoor_oval)
  "$bin/run_validation" --scenario gap --tracks indoor_oval --quiet --set criteria.laps_at_least=2 --set gap_follow.max_speed_mps=2 \
    --record runs >drive.txt || { cat drive.txt; exit 1; }
  mv runs/* data/drive
  ;;
*)
  log=${PITWALL_TEST_DATA:-}/slam/carmen/$scenario-corrected.log.gz
  if [ ! -f "$log" ]; then
    echo "skipped: no $log (PITWALL_TEST_DATA)"
    exit 77
  fi
  "$bin/import_run" "$log" -o "data/$scenario" >import.txt || { cat import.txt; exit 1; }
  ;;
esac
"$bin/golden" "$scenario" --golden "$golden" --data data --results results
grep -q '"status":"passed"' "results/$scenario.json" || exit 1
[ "${PITWALL_UPDATE_GOLDEN:-}" = 1 ] && exit 0

# A golden file that is not there, or another map, is a failure, not a skip; and so is a closure that was not there before.
cp -r "$golden" other && chmod -R u+w other
fails() {
  code=0
  "$bin/golden" "$scenario" --golden other --data data --results other_results >out 2>&1 || code=$?
  [ "$code" -eq 1 ] && grep -q "$1" out && return
  echo "exit code $code (expected 1), no '$1' in:"
  cat out
  exit 1
}
sed -i 's/^hash: ./hash: x/' "other/$scenario.map.yaml"
fails 'maps_differ is 1'
rm "other/$scenario.map.yaml"
fails 'maps_missing is 1'
cp "$golden/$scenario.map.yaml" other/
grep -v ' 1$' "$golden/$scenario.g2o" >"other/$scenario.g2o"
fails 'closures_added is'
rm "other/$scenario.g2o"
fails 'no golden files to compare with'
