#!/usr/bin/env bash
# A build that was configured before an MPI was installed finds it when it is configured again.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

# configure OPTION...: prints whether it found an MPI.
configure() {
  cmake -S "$(dirname "$0")/configured_later" -B "$scratch" "$@" | grep -x -e '-- with MPI' -e '-- without MPI'
}

# expect WORDS OPTION...
expect() {
  local expected=$1 got
  shift
  got=$(configure "$@")
  [ "$got" = "-- $expected" ] || { echo "configured with '$*': expected $expected, got $got"; exit 1; }
}

expect 'without MPI' -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON
expect 'with MPI' -DCMAKE_DISABLE_FIND_PACKAGE_MPI=OFF
expect 'without MPI' -DTRACELOOM_MPI=OFF
expect 'with MPI' -DTRACELOOM_MPI=ON
