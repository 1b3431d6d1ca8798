#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The emulated car as a process that knows only the documents of the devices meets it: eight seconds round indoor_oval by a driver of
# thirty lines, with one byte in 1 % of the messages wrong; then it lets go, and the board's own timeout stops the car.
# Usage: emulate_test.sh BIN_FOLDER
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
export PATH="$1:$PATH"
python3 - <<'PYTHON'
import json, math, os, select, socket, struct, subprocess, time

emulate = subprocess.Popen(
    ["emulate", "--track", "indoor_oval", "--car", "rb2", "--command", "vesc timeout 150 25",
     "--command", "vesc flip 0.01", "--command", "hokuyo flip 0.01", "--command", "hokuyo chop 1000"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
address = {}
for line in emulate.stdout:
    if line.strip() == "ready":
        break
    device, where = line.split()
    address[device] = where

def say(command):
    emulate.stdin.write(command + "\n")
    emulate.stdin.flush()
    answer = ""
    while True:
        line = emulate.stdout.readline()
        if line.strip() == "ok":
            return answer
        assert not line.startswith("error"), line
        answer += line

def crc(data):
    value = 0
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = (value << 1 ^ 0x1021) & 0xFFFF if value & 0x8000 else value << 1 & 0xFFFF
    return value

def frame(payload):
    return bytes([2, len(payload)]) + payload + struct.pack(">H", crc(payload)) + b"\x03"

def scan_of(message):
    lines = message.split(b"\n")
    if len(lines) < 4 or lines[0] != b"MD0000108000000" or lines[1] != b"99b":
        return None
    for line in lines[2:]:
        if (sum(line[:-1]) & 0x3F) + 0x30 != line[-1]:
            return None
    data = b"".join(line[:-1] for line in lines[3:])
    values = [data[i] - 48 << 12 | data[i + 1] - 48 << 6 | data[i + 2] - 48 for i in range(0, len(data) - 2, 3)]
    return values if len(values) == 1081 else None

def drive(vesc, ranges):
    far = [min(r, 6000) if r > 20 else 6000 for r in ranges]
    wide = {i: min(far[i - 20:i + 20:4]) for i in range(260, 820)}
    best = max(wide, key=lambda i: (wide[i], -abs(i - 540)))
    left, right = (sum(min(r, 4000) for r in far[a:a + 100]) / 100 for a in (700, 280))
    angle = (best - 540) * 2 * math.pi / 1440
    steering = max(-0.26, min(0.3, 0.6 * angle + 0.15e-3 * (left - right)))
    os.write(vesc, frame(b"\x08" + struct.pack(">i", int(1.2 * 4614))) +
             frame(b"\x0c" + struct.pack(">h", int(1000 * (0.5304 - 1.2135 * steering)))) + frame(b"\x04"))

vesc = os.open(address["vesc"], os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
host, port = address["hokuyo"].split(":")
lidar = socket.create_connection((host, int(port)))
lidar.sendall(b"MD0000108000000\n")
text, good, bad = b"", 0, 0
end = time.monotonic() + 8
while time.monotonic() < end:
    if not select.select([lidar], [], [], 0.1)[0]:
        continue
    text += lidar.recv(65536)
    while b"\n\n" in text:
        message, text = text.split(b"\n\n", 1)
        ranges = scan_of(message)
        good, bad = good + (ranges is not None), bad + (ranges is None)
        if ranges:
            drive(vesc, ranges)
    try:
        os.read(vesc, 65536)
    except BlockingIOError:
        pass
moving = json.loads(say("report"))
print("driving:", moving)
assert good > 250 and 1 <= bad < 20, (good, bad)  # the answer to MD is no scan
assert moving["contacts"] == 0 and moving["progress_m"] > 5 and moving["speed_mps"] > 1, moving
assert moving["commands"]["SET_RPM"] == good, (moving, good)
time.sleep(0.9)
stopped = json.loads(say("report"))
assert abs(stopped["speed_mps"]) < 0.05, stopped
say("vesc unplug")
try:
    os.read(vesc, 10)
    assert os.read(vesc, 10) == b""
except OSError:
    pass
log = say("log").splitlines()
assert json.loads(log[-1])["command"] in ("SET_RPM", "SET_SERVO_POS")
emulate.stdin.write("quit\n")
emulate.stdin.flush()
final = json.loads(emulate.stdout.read())
assert emulate.wait() == 0 and final["damaged"]["hokuyo"] <= bad, (final, bad)
assert not os.path.lexists(address["vesc"]), "the folder is gone"
PYTHON
