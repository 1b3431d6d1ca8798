#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# command_test.sh EXIT PATTERN COMMAND: the shell command ends with that code and its output (both streams) matches the
# extended regular expression.
output=$(sh -c "$3" 2>&1)
code=$?
if [ "$code" -ne "$1" ]; then
  printf 'exit code %s instead of %s\n%s\n' "$code" "$1" "$output"
  exit 1
fi
if ! printf '%s\n' "$output" | tr '\n' ' ' | grep -Eq -- "$2"; then
  printf 'no match for: %s\n%s\n' "$2" "$output"
  exit 1
fi
