#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian/Ubuntu packages that are missing; says so in one line; does nothing where all are there.
# Run by validate.sh and test.sh. Usage: tools/setup.sh [--tests]
set -euo pipefail

packages=(g++ cmake ninja-build ccache libeigen3-dev libbox2d-dev libyaml-cpp-dev libspdlog-dev libpng-dev zlib1g-dev libhwy-dev
  libceres-dev libcli11-dev nlohmann-json3-dev pkg-config libzstd-dev liblz4-dev libdeflate-dev libsqlite3-dev cyclonedds-dev)
if [[ "${1:-}" == "--tests" ]]; then
  packages+=(doctest-dev libmpfr-dev libbenchmark-dev python3 clang-format-14 clang-tidy-14 libfastrtps-dev)
fi

missing=()
for package in "${packages[@]}"; do
  [[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0

as_root=()
if [[ $EUID -ne 0 ]]; then
  command -v sudo >/dev/null || { echo "setup: not root and no sudo; please install: ${missing[*]}" >&2; exit 2; }
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
exec 3>&2  # what people should see while apt-get's own words go to the log
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends "$@"; }
install_all() {
  apt update || echo "going on with the package lists at hand"
  apt install "${missing[@]}" && return
  local package
  for package in "${missing[@]}"; do
    apt install "$package" && continue
    # Not in every release; what needs them is left out where they are absent.
    [[ "$package" == clang-* || "$package" == libfastrtps-dev || "$package" == cyclonedds-dev ]] || return 1
    echo "setup: $package is not available here; what needs it is left out" >&3
  done
}
if ! install_all >"$log" 2>&1; then
  cat "$log" >&2
  echo "setup: apt-get failed; the packages needed are: ${missing[*]}" >&2
  exit 3
fi
