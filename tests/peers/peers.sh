#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# peers.sh BIN WORK: what we write is read by independent programs from npm (CTest `peers`). Exit 77 where Node is absent, or
# where the packages are neither installed in WORK nor to be had.
bin=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)
command -v node >/dev/null && command -v npm >/dev/null || { echo "skipped: no node or npm"; exit 77; }
mkdir -p "$work" && cd "$work" || exit 1
cp "$here/package.json" "$here/package-lock.json" "$here/read.mjs" . || exit 1
if ! cmp -s package-lock.json installed-lock.json; then
  npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1 || { echo "skipped: npm cannot install the packages: $(grep -m1 . npm.log)"; exit 77; }
  cp package-lock.json installed-lock.json
fi
for compression in none zstd; do
  rm -rf "sample_$compression"
  "$bin/peers_sample" "sample_$compression" "$compression" || exit 1
  "$bin/bag" cat "sample_$compression" >"$compression.jsonl" || exit 1
  node read.mjs "sample_$compression/sample_${compression}_0.mcap" "$compression.jsonl" || exit 1
done
