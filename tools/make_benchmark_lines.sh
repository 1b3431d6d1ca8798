#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lines of least time for the maps of the published benchmark (scenarios/f1tenth_laps.hpp), made from maps that are not ours to ship: the
# folder OUT gets the maps' files as links and NAME_raceline_optimized.csv beside them. Usage: tools/make_benchmark_lines.sh BIN MAPS OUT,
# then run_validation --scenario f1tenth_laps --steering-law lqr --law-param lqr_tyre=linear --raceline optimized --tracks OUT/aut ...
# Car and speeds are those of the benchmark: 0.31 m x 0.58 m, wheelbase 0.3302 m, 0.4 rad, 8 m/s, a circle of 7.65 m/s^2.
set -euo pipefail
bin=$1
maps=$(realpath "$2")
out=$3
mkdir -p "$out"
ln -sf "$maps"/*.csv "$maps"/*.png "$maps"/*.yaml "$out"
for map in aut esp gbr mco; do
  "$bin/optimize_raceline" --map "$out/$map.yaml" --centerline "$out/${map}_centerline.csv" --objective time --safety-margin 0.3 \
    --car-width 0.31 --car-length 0.58 --wheelbase 0.3302 --max-steering-angle 0.4 --v-max 8 --v-min 0 --a-lat-max 7.65 --a-accel-max 7.65 \
    --a-brake-max 7.65 --output "$out/${map}_raceline_optimized.csv"
done
