# SPDX-License-Identifier: Apache-2.0
# For tests of programs as a shell sees them. `. expect.sh` in a script called with BIN WORK: $bin, an empty folder $work that is entered, and
# expect EXIT PATTERN WHAT COMMAND...; `exit $failed` ends the script.
bin=$1
work=$2
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
failed=0

# expect EXIT PATTERN WHAT COMMAND...: ends with that code, and both streams, as one line, match the extended regular expression.
expect() {
  code=$1 pattern=$2 what=$3
  shift 3
  output=$("$@" 2>&1)
  got=$?
  if [ "$got" -ne "$code" ] || ! printf '%s\n' "$output" | tr '\n' ' ' | grep -Eq -- "$pattern"; then
    printf 'FAILED %s: exit code %s (expected %s), pattern %s\n%s\n' "$what" "$got" "$code" "$pattern" "$output"
    failed=1
  fi
}
