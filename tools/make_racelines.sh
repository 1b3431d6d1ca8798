#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Computes the optimised lines that ship (tracks/data/racelines) again. Usage: tools/make_racelines.sh BIN [TRACK ...]
# Car: the stock one of the simulator (car f1tenth: 0.31 m x 0.58 m, wheelbase 0.3302 m), steering as the controllers limit it
# (0.26 rad); speeds: those of the scenarios (tracks::SpeedLimits). The margin leaves a tracker 0.25 m beside the chassis.
set -euo pipefail
bin=$1
shift
tracks=("$@")
[[ ${#tracks[@]} -gt 0 ]] || tracks=(larkfield copper_ridge salt_quay)
folder=${RACELINES:-$(dirname "$0")/../tracks/data/racelines}
for track in "${tracks[@]}"; do
  "$bin/optimize_raceline" --track "$track" --objective time --safety-margin 0.25 --car-width 0.31 --car-length 0.58 \
    --wheelbase 0.3302 --max-steering-angle 0.26 --v-max 4 --a-lat-max 2.5 --a-accel-max 3 --a-brake-max 8 --smoothing-window 0 \
    --output "$folder/$track.csv"
done
