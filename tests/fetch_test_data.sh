#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/fetch_test_data.sh fetches, verifies, keeps what is right and nothing else. Usage: fetch_test_data.sh SOURCE_FOLDER WORK_FOLDER
set -euo pipefail
fetch="$1/tools/fetch_test_data.sh"
work="$2"
command -v curl >/dev/null || { echo "no curl: skipped"; exit 77; }
rm -rf "$work" && mkdir -p "$work/served" && cd "$work"
fail() { echo "FAILED: $*"; exit 1; }
expect() { local code="$1"; shift; local got=0; "$@" >out 2>err || got=$?; [[ $got == "$code" ]] || { cat out err; fail "$* gave $got, not $code"; }; }

echo "a recording" >served/one.mcap
mkdir -p pack/inside && echo "packed" >pack/inside/x && tar -cf served/two.tar -C pack inside
one=$(sha256sum served/one.mcap | cut -d' ' -f1)
two=$(sha256sum served/two.tar | cut -d' ' -f1)
url="file://$work/served"
printf '# recordings\none.mcap\t%s/one.mcap\t%s\nbags/two.tar\t%s/two.tar\t%s\tbags/two\n' "$url" "$one" "$url" "$two" >manifest.tsv

expect 0 "$fetch" manifest.tsv data
grep -q "one.mcap: fetched" out || fail "not fetched"
[[ "$(cat data/one.mcap)" == "a recording" && "$(cat data/bags/two/inside/x)" == packed ]] || fail "not there"
expect 0 "$fetch" manifest.tsv data
grep -q "one.mcap: there" out || fail "fetched twice"
echo "broken" >data/one.mcap
expect 0 env PITWALL_TEST_DATA=data "$fetch" manifest.tsv
[[ "$(cat data/one.mcap)" == "a recording" ]] || fail "a broken file was not fetched again"

printf 'bad.mcap\t%s/one.mcap\t%064d\ngone.mcap\t%s/gone.mcap\t%s\n' "$url" 0 "$url" "$one" >bad.tsv
expect 1 "$fetch" bad.tsv data
grep -q "not kept" err || fail "a wrong hash was not said"
grep -q "cannot fetch" err || fail "a missing file was not said"
[[ ! -e data/bad.mcap && -z "$(find data -name '*.part*')" ]] || fail "something wrong was kept"

printf 'x\ty\n' >none.tsv
expect 2 "$fetch" none.tsv data
printf '../x\t%s/one.mcap\t%s\n' "$url" "$one" >outside.tsv
expect 2 "$fetch" outside.tsv data
expect 2 "$fetch" missing.tsv data
expect 0 "$fetch" --help
echo "fetch_test_data: all as it should be"
