#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bridge_test.sh BIN WORK: simulator and controller as two processes on a real DDS graph over loopback: in lockstep the run is that of one
# process; in real time the car stands after whatever happens to the controller. The cases in real time run side by side, each on a
# ROS domain of its own.
. "$(dirname "$0")/../tests/support/expect.sh"
export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST
unset CYCLONEDDS_URI ROS_LOCALHOST_ONLY
first_domain=$((100 + $$ % 12 * 10))

# begin CASE NUMBER [sim option...]: simulator and controller, driving for 2 s.
begin() {
  export ROS_DOMAIN_ID=$((first_domain + $2))
  mkdir "$1" && cd "$1" || exit 1
  shift 2
  "$bin/bridge_controller" --track indoor_oval $controller_options > controller.txt 2> controller.log &
  controller=$!
  "$bin/bridge_sim" --track indoor_oval --hold-after 0.5 --seconds 6 --json "$@" > sim.json 2> sim.log &
  sim=$!
  waited=0
  while ! grep -q "found one" sim.log; do
    sleep 0.1
    waited=$((waited + 1))
    [ $waited -gt 200 ] && break
  done
  sleep 2.5
}

# number NAME FILE: of a JSON object.
number() { sed -n 's/^ *"'"$1"'": *\([-0-9.e+]*\),*$/\1/p' "$2" | head -1; }

# stands [FILE]: the car has driven, then it stood, and nothing was touched.
stands() {
  file=${1:-sim.json}
  [ -s "$file" ] && grep -q '"collision": false' "$file" &&
    awk "BEGIN { exit !($(number progress_m "$file") > ${2:-0.3} && $(number final_speed_mps "$file") < 0.02) }"
}

# ends CASE: says what went wrong, and ends the programs.
ends() {
  kill -INT $controller 2> /dev/null
  wait $controller
  if [ "$2" -ne 0 ]; then
    echo "FAILED $1"
    cat sim.log controller.log
    head -60 sim.json
    exit 1
  fi
}

controller_killed() {
  begin killed 0
  kill -KILL $controller
  wait $sim
  stands
  ends "killed" $?
}
controller_stalled() {
  begin stalled 1
  kill -STOP $controller
  sleep 1.5
  kill -CONT $controller
  wait $sim
  stands  # it goes on deciding, but the deadman was held all the time
  ends "stalled" $?
}
controller_restarted() {
  begin restarted 2
  kill -KILL $controller
  "$bin/bridge_controller" --track indoor_oval > again.txt 2> controller.log &
  controller=$!
  wait $sim
  stands && grep -q "deadman_not_seen_released" controller.log
  ends "restarted" $?
}
joystick_lost() {
  begin joystick 3 --silence-after 2.5
  wait $sim
  stands && grep -q "joy_stale" controller.log
  ends "joystick" $?
}
second_publisher() {
  begin second 4
  "$bin/bridge_sim" --track indoor_oval --hold-after -1 --seconds 2 > other.txt 2> other.log &
  other=$!
  wait $sim
  stands && grep -q "duplicate_publisher" controller.log
  ends "second publisher" $?
  wait $other
}
clock_jumps() {
  controller_options=--sim-time
  begin clock 5
  kill -KILL $sim
  sleep 1
  "$bin/bridge_sim" --track indoor_oval --seconds 2 --json > again.json 2> sim.log
  stands again.json -1 && grep -q "deadman_not_seen_released" controller.log && grep -q "DRIVE" controller.log && grep -q '"laps": 0' again.json
  ends "clock jumps" $?
}

for each in controller_killed controller_stalled controller_restarted joystick_lost second_publisher clock_jumps; do
  ($each) > "$each.out" 2>&1 &
  cases="$cases $each:$!"
done

# Meanwhile, in lockstep: nothing depends on how the machine shares its time.
export ROS_DOMAIN_ID=$((first_domain + 6))
expect 1 'timeout after 8' "in one process" "$bin/run_validation" --scenario gap --tracks indoor_oval --timeout 8 --resolved resolved --set criteria.laps_at_least=9
scenario=$(echo resolved/*.yaml)
"$bin/bridge_controller" --scenario "$scenario" --lockstep --param gate.release_first=false --record runs > controller.txt 2> controller.log &
controller=$!
expect 1 "trace hash $(sed -n 's/^ *trace_hash: //p' "$scenario")" "in two processes" "$bin/bridge_sim" --scenario "$scenario" --lockstep
kill -INT $controller
wait $controller
expect 0 'identical, [0-9]+ ticks *$' "replay of what the controller recorded" "$bin/replay" runs/*

for each in $cases; do
  if ! wait "${each#*:}"; then
    failed=1
    cat "${each%:*}.out"
  fi
done
exit $failed
