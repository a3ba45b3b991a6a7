#!/usr/bin/env bash
# Trains with a slow data loader, then with a slow rank, and lets the tools find the reason: record -> merge ->
# report.
# `./dev demo` builds the tools and runs this; a test runs it with those of its own build.
#
#   PATH=<bin folder>:$PATH scripts/demo.sh FOLDER     FOLDER, which is made anew, gets the traces
set -euo pipefail

main() {
  folder=$1
  rm -rf "$folder"
  mkdir -p "$folder"
  demo_run slow-loader --slow-loader
  demo_run straggler --straggler 2
  cat << END

The merged traces:  $(realpath "$folder")/slow-loader.json and straggler.json
To look at them:    https://ui.perfetto.dev -> Open trace file, or chrome://tracing -> Load
END
}

# demo_run NAME [OPTION...]: one epoch, so one trace a rank.
demo_run() {
  local traces=$folder/$1 merged=$folder/$1.json
  shift
  printf '\n$ trace-record demo %s\n' "$*"
  trace-record demo "$@" --epochs 1 --batches 40 -o "$traces" | sed '/^One trace/,$d'
  printf '$ trace-merge %s -o %s\n' "$traces" "$merged"
  trace-merge "$traces" -o "$merged"
  printf '$ trace-stats bottleneck %s\n' "$merged"
  trace-stats bottleneck "$merged"
}

main "$@"
