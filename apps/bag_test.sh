#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bag_test.sh BIN WORK: the program `bag` on recordings of others, as a shell sees it. Exit 77 without the test data.
here=$(cd "$(dirname "$0")" && pwd)
data=${PITWALL_TEST_DATA:-$here/../../shared/data}
bags=$data/bags
[ -d "$bags" ] || { echo "skipped: no test data at $bags (set PITWALL_TEST_DATA)"; exit 77; }
. "$here/../tests/support/expect.sh"

lap=$bags/wato_f1tenth_steady_lap
expect 0 '/wheel_odom +nav_msgs/msg/Odometry +4861 +100\.00' "info" "$bin/bag" info "$lap"
expect 0 '"receive_minus_stamp_ns": [0-9]+' "info --json" "$bin/bag" info --json "$lap"
expect 0 'metadata says the messages are .wrong_format., the file says .cdr.' "metadata and table disagree" "$bin/bag" info "$bags/rosbag2_sqlite3_wrong_rmw_test"
expect 1 "in encoding 'wrong_format'; only 'cdr' is read" "another encoding" "$bin/bag" check "$bags/rosbag2_mcap_wrong_rmw_test"
expect 0 'evo_tf_example: sqlite3, 518 messages.*/tf_static  tf2_msgs/msg/TFMessage  1 ' "ls" "$bin/bag" ls "$bags"
expect 0 '^\{"log_time":[0-9]+,"topic":"/tf","type":"tf2_msgs/msg/TFMessage","message":\{"transforms":\[.*\}' "cat" "$bin/bag" cat "$bags/evo_tf_example" --topic /tf --limit 1
expect 2 "unknown topic '/tff'; did you mean '/tf'" "cat of no topic" "$bin/bag" cat "$bags/evo_tf_example" --topic /tff
expect 0 'wheel_odom.csv: 1000 rows' "export of a piece" "$bin/bag" export "$lap" -o csv --topic /wheel_odom --start 10 --end 19.99
expect 0 'made: 6355 messages' "convert" "$bin/bag" convert "$lap" -o made
expect 2 'made: is there already' "convert onto a recording" "$bin/bag" convert "$lap" -o made
expect 0 'identical: 6355 messages on 4 topics' "diff of a copy" "$bin/bag" diff "$lap" made
expect 0 'back: 6355 messages' "convert to sqlite3" "$bin/bag" convert made -o back --format sqlite3 --ros-distro humble
expect 0 'identical: 6355' "diff of a copy of a copy" "$bin/bag" diff "$lap" back
expect 0 'merged: 6873 messages' "merge" "$bin/bag" convert "$lap" "$bags/evo_tf_example" -o merged --compression none
expect 1 '/tf: only in the second' "diff of more" "$bin/bag" diff "$lap" merged
expect 1 '"identical": false' "diff --json" "$bin/bag" diff --json "$lap" merged
expect 1 'saved: 3149 messages, with losses' "recover" "$bin/bag" recover "$data/bags_damaged/db3_trunc_half.db3" -o saved
expect 0 'saved: mcap, 1 file, 3149 messages' "check of what was recovered" "$bin/bag" check saved
expect 1 'damage: .*db3_trunc_half.db3: .*recovered 3149 messages' "check of what is damaged" "$bin/bag" check "$data/bags_damaged/db3_trunc_half.db3"

# As it goes wrong: numbers that are none, a full disk, a limit on files, a folder that cannot be read, an interrupt.
expect 2 '--start: .nan. is not a number from 0 to 1e9' "start nan" "$bin/bag" cat "$lap" --start nan
expect 2 '--end: .1e300. is not a number' "end 1e300" "$bin/bag" convert "$lap" -o never --end 1e300
expect 2 '--split-mib: .nan.' "split nan" "$bin/bag" convert "$lap" -o never --split-mib nan
expect 2 '--limit: ' "limit below 0" "$bin/bag" cat "$lap" --limit -1
expect 2 '--end 3 is before --start 5' "end before start" "$bin/bag" convert "$lap" -o never --start 5 --end 3
expect 0 'no recording at or below it' "ls of nothing" "$bin/bag" ls csv
expect 2 'csv: holds no recording' "info of nothing" "$bin/bag" info csv
[ "$(ls csv)" = wheel_odom.csv ] || { echo "FAILED export of one topic wrote $(ls csv)"; failed=1; }
expect 2 'never_0.mcap: cannot write: File too large' "convert past the limit of files" sh -c "ulimit -f 64; '$bin/bag' convert '$lap' -o never"
expect 2 'never_0.db3: cannot be written' "the same to sqlite3" sh -c "ulimit -f 64; '$bin/bag' convert '$lap' -o never --format sqlite3"
expect 2 'wheel_odom.csv.part: cannot be written' "export past it" sh -c "ulimit -f 64; '$bin/bag' export '$lap' -o never"
[ -z "$(find never -type f 2>/dev/null)" ] || { echo "FAILED left behind: $(find never -type f)"; failed=1; }
[ -e /dev/full ] && expect 2 'cannot write the output' "cat to a full disk" sh -c "'$bin/bag' cat '$lap' >/dev/full"
[ -e /dev/full ] && expect 2 'cannot write the output: No space left' "info to a full disk" sh -c "'$bin/bag' info '$lap' >/dev/full"
mkdir locked && chmod 000 locked
[ -r locked ] || expect 2 'locked: cannot be listed: Permission denied' "a folder that cannot be read" "$bin/bag" info locked
chmod 755 locked
"$bin/bag" convert merged merged merged merged merged merged -o large --compression none >/dev/null 2>&1
for signal in INT TERM; do
  rm -rf stopped
  "$bin/bag" convert large large large -o stopped >out.txt 2>&1 &
  convert=$!
  while [ ! -s stopped/stopped_0.mcap ] && kill -0 $convert 2>/dev/null; do :; done
  kill -$signal $convert
  wait $convert
  code=$?
  if [ $code -ne 130 ] || ! grep -q 'stopped: [0-9]* messages; interrupted, the rest is missing' out.txt; then
    echo "FAILED convert with SIG$signal: exit code $code"; cat out.txt; failed=1
  fi
  expect 0 'stopped: mcap, 1 file' "check of what was written before SIG$signal" "$bin/bag" check stopped
done
exit $failed
