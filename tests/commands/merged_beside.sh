#!/usr/bin/env bash
# A folder with a merge and a packed copy next to the inputs gives the answer for the inputs alone, and a word about it.
source "$(dirname "$0")/common.sh"
need_tables
enter_scratch
for set in composer kineto; do
  while read -r run; do
    trace-stats $run inputs/$set/plain --format csv > one.csv 2> one.err || fail "$run of $set: exit $?: $(cat one.err)"
    trace-stats $run inputs/$set/both --format csv > two.csv 2> two.err || fail "$run of $set: exit $? with copies: $(cat two.err)"
    cmp -s one.csv two.csv || fail "$run of $set counts events twice: $(diff one.csv two.csv | head -n 4)"
    [ "$(grep -c 'left out' two.err)" = 2 ] || fail "$run of $set leaves out other files than the merge and the copy: $(cat two.err)"
  done < <(runs)
done
finish
