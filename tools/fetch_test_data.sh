#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches recordings for tests by a manifest and verifies them by SHA-256. What is there and right is not fetched again; what
# does not verify is not kept. A manifest has a line for each file, fields separated by tabs:
#
#   name <TAB> url <TAB> sha256 [<TAB> extracted]
#
# `extracted` says that the file is a tar archive: it is unpacked into the folder of that name. # begins a comment.
# Usage: tools/fetch_test_data.sh MANIFEST [FOLDER]      (FOLDER: default $PITWALL_TEST_DATA)
# Exit code: 0 all there and verified; 1 some could not be fetched or are not what the manifest says; 2 bad usage or manifest.
set -euo pipefail

manifest="${1:-}"
folder="${2:-${PITWALL_TEST_DATA:-}}"
if [[ -z "$manifest" || "$manifest" == --help || -z "$folder" ]]; then
  sed -n '3,11s/^# \{0,1\}//p' "$0" >&2
  [[ "$manifest" == --help ]] && exit 0 || exit 2
fi
[[ -r "$manifest" ]] || { echo "$manifest: cannot read" >&2; exit 2; }

sha() { sha256sum "$1" | cut -d' ' -f1; }

mkdir -p "$folder"
failed=0
number=0
while IFS= read -r line || [[ -n "$line" ]]; do
  number=$((number + 1))
  [[ -z "${line// }" || "$line" == \#* ]] && continue
  IFS=$'\t' read -r name url want extracted <<<"$line"
  if [[ -z "$name" || -z "${url:-}" || ! "${want:-}" =~ ^[0-9a-f]{64}$ || "$name" == /* || "$name" == *..* || "${extracted:-}" == *..* || "${extracted:-}" == /* ]]; then
    echo "$manifest:$number: needs name, url and 64 digits of SHA-256, separated by tabs; names stay below the folder" >&2
    exit 2
  fi
  file="$folder/$name"
  if [[ -f "$file" && "$(sha "$file")" == "$want" ]]; then
    echo "$name: there"
  else
    mkdir -p "$(dirname "$file")"
    part="$file.part$$"
    if ! curl --fail --silent --show-error --location --output "$part" "$url"; then
      rm -f "$part"
      echo "$name: cannot fetch $url" >&2
      failed=1
      continue
    fi
    got="$(sha "$part")"
    if [[ "$got" != "$want" ]]; then
      rm -f "$part"
      echo "$name: SHA-256 is $got, the manifest says $want; not kept" >&2
      failed=1
      continue
    fi
    mv "$part" "$file"
    echo "$name: fetched"
  fi
  if [[ -n "${extracted:-}" && ! -d "$folder/$extracted" ]]; then
    unpacked="$folder/$extracted.part$$"
    mkdir -p "$unpacked"
    if tar -xf "$file" -C "$unpacked"; then
      mv "$unpacked" "$folder/$extracted"
      echo "$extracted: unpacked"
    else
      rm -rf "$unpacked"
      echo "$name: cannot be unpacked" >&2
      failed=1
    fi
  fi
done <"$manifest"
exit $failed
