#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bridge_replay_test.sh BIN WORK [RUNS]: recordings into programs on a real DDS graph, and a graph into a recording. With RUNS only that: so
# many replays while the machine is busy with other things, all with the same outputs.
. "$(dirname "$0")/../tests/support/expect.sh"
unset CYCLONEDDS_URI ROS_LOCALHOST_ONLY
export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST
domain=$((10 + $$ % 9 * 7))

"$bin/run_validation" --scenario gap --tracks indoor_oval --timeout 3 --record runs --quiet > run.txt
run=$work/$(echo runs/*)
controller="$bin/bridge_controller --scenario $run/metadata/files/scenario.yaml --lockstep --quiet --param gate.release_first=false"

# replay_into DOMAIN OUT
replay_into() {
  "$bin/bridge_replay" "$run" --run "$controller" --domain "$1" --exclude /drive /slam_pose --lookahead 0 --require /scan /odom /joy \
    --outputs "$2" --output-topics /drive --quiet > "$2.txt" 2>&1
}
# same A B: the commands in both are the same, to the bit.
same() { expect 0 'identical: 119 messages' "$1 and $2" "$bin/bag" diff "$1" "$2" --topic /drive --ignore-times; }

if [ -n "$3" ]; then
  for k in 1 2 3 4; do
    timeout 600 sh -c 'while :; do :; done' &
    load="$load $!"
  done
  for k in $(seq "$3"); do
    replay_into $domain "out$k"
    same "out$k" "$run"
  done
  kill $load
  exit $failed
fi

# In the order of the recording the controller gives the commands that it gave in the simulator: nothing was lost, nothing overtaken.
replay_into $domain first &
first=$!
replay_into $((domain + 1)) second &
second=$!

# A SLAM that behaves like slam_toolbox, twice.
"$bin/slam_replay" "$run" --label mapped --out-root out > mapped.txt 2>&1
mapped=$(echo out/*-mapped)
slam() { "$bin/slam_replay" "$mapped" --exact --engine ros --domain "$1" --label "$2" --run "$bin/echo_slam {params} $3" > "$2.txt" 2>&1; }
slam $((domain + 2)) one &
one=$!
slam $((domain + 3)) two &
two=$!
slam $((domain + 4)) eager eager &
eager=$!

# What is on the graph, while a simulator in lockstep publishes it.
(
  export ROS_DOMAIN_ID=$((domain + 5))
  "$bin/bridge_record" -o recorded --topics /scan /odom /drive /tf_static /never --max-duration 2 > record.txt 2> record.log &
  recorder=$!
  $controller > controller.txt 2>&1 &
  of=$!
  "$bin/bridge_sim" --scenario "$run/metadata/files/scenario.yaml" --lockstep > sim.txt 2>&1
  sleep 0.3
  kill -INT $recorder
  wait $recorder
  kill -INT $of
  wait $of
) &
graph=$!

expect 1 'the program died after [0-9]+ messages' "a program that dies" "$bin/bridge_replay" "$run" --domain $((domain + 6)) --run 'sleep 0.5'
expect 1 'not idle within 0.5 s; busy most often: sh ' "a program that is never idle" "$bin/bridge_replay" "$run" --domain $((domain + 6)) \
  --run "sh -c 'while :; do :; done'" --idle-timeout 0.5
expect 1 'after 0.3 s nobody reads /scan' "nobody listens" "$bin/bridge_replay" "$run" --domain $((domain + 6)) --run 'sleep 100' --require /scan \
  --connect-timeout 0.3
expect 2 'give --run COMMAND' "lockstep without a program" "$bin/bridge_replay" "$run"

wait $first
wait $second
same first "$run"
same second first
wait $one || { cat one.txt; failed=1; }
wait $two
wait $eager
expect 0 '"status": "differs".*"sacrificed": 3.*"missing": 0,.*"extra": 0.*"map_saved": "from_bag"' "SLAM" cat "$mapped-replay-odom-one/replay.json"
expect 0 'identical: [0-9]+ messages' "SLAM, twice" "$bin/bag" diff "$mapped-replay-odom-one/bag" "$mapped-replay-odom-two/bag" --topic /pose --ignore-times
expect 0 'was taken in, which slam_toolbox would have rejected' "another SLAM" cat eager.txt
wait $graph
expect 0 '/drive +ackermann_msgs/msg/AckermannDriveStamped.*/odom +nav_msgs/msg/Odometry.*/scan +sensor_msgs/msg/LaserScan.*/tf_static' "what was recorded" \
  "$bin/bag" info recorded
same recorded "$run"
expect 0 'nobody published /never' "what was not" cat record.log
exit $failed
