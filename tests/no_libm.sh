#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# No library of a deterministic folder may call a transcendental function of the C library.
# Usage: no_libm.sh NM LIBRARY_FOLDER FOLDER...
set -euo pipefail
nm=$1
libraries=$2
shift 2
command -v "$nm" >/dev/null || { echo "skipped: no nm"; exit 0; }
banned='(sin|cos|tan|sincos|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh|exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|hypot|cbrt|erf|erfc|tgamma|lgamma|fma)[fl]?'
failures=0
checked=0
for folder in "$@"; do
  library=$libraries/libpitwall_${folder//\//_}.a
  [[ -f $library ]] || { echo "no library $library"; failures=$((failures + 1)); continue; }
  checked=$((checked + 1))
  found=$("$nm" -A -u "$library" 2>/dev/null | grep -E "[: ]U $banned(@.*)?\$" || true)
  [[ -z $found ]] || { echo "$found"; failures=$((failures + 1)); }
done
# The check must be able to fail: this program calls what is banned.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if command -v cc >/dev/null; then
  echo 'double sin(double); double f(double x) { return sin(x); }' >"$work/x.c"
  cc -fno-builtin -c "$work/x.c" -o "$work/x.o"
  "$nm" -A -u "$work/x.o" | grep -qE "[: ]U $banned(@.*)?\$" || { echo "the check is blind"; failures=$((failures + 1)); }
fi
echo "checked $checked libraries"
exit $((failures > 0))
