#!/usr/bin/env bash
# Draws the picture of README.md: four merged ranks with the straggler marked, and the verdict. All of it is what the tools
# print about testdata/straggler; a test compares the picture in docs/ with what this prints.
#
#   PATH=<bin folder>:$PATH scripts/picture.sh > docs/straggler.svg
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "${BASH_SOURCE[0]}")/.."

traces=testdata/straggler
first_batch=5 last_batch=7

main() {
  local summary verdict rank wait
  summary=$(trace-merge "$traces" -o /dev/null 2>&1)
  verdict=$(trace-stats bottleneck "$traces" | grep '^Verdict: ')
  rank=$(value rank)
  wait=$(value delay_ns_per_step)
  trace-merge "$traces" -o - 2> /dev/null |
    awk -v first="$first_batch" -v last="$last_batch" -v summary="$summary" -v verdict="$verdict" \
      -v straggler="$rank" -v wait_ns="$wait" -f scripts/picture.awk
}

# A number in the verdict of trace-stats stragglers.
value() {
  trace-stats stragglers "$traces" --format json | sed -n "s/.*\"verdict\": {.*\"$1\":\([0-9]*\)[,}].*/\1/p"
}

main
