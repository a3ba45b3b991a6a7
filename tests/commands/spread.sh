#!/usr/bin/env bash
# Processes under MPI give the answer, the messages and the exit code of one process, for inputs, a merge of them, and both.
#
#   TRACELOOM_BY_PROCESSES=<folder with trace-stats, which starts several> spread.sh COMMAND SOURCE_DIR INPUTS SCRATCH
source "$(dirname "$0")/common.sh"
need_tables
enter_scratch

# ask NAME TOOL ARGUMENT...: keeps what the tool prints.
ask() {
  local name=$1
  shift
  "$@" > "$name.out" 2> "$name.err"
  echo "exit $?" >> "$name.out"
}

# A day takes a third of them, in turns that differ by command.
first=${#command}
for input in composer/plain devices2/plain devices2/merged kineto/both; do
  place=$((first++))
  while read -r run; do
    is_of_today 3 $((place++)) || continue
    ask one trace-stats $run inputs/$input
    ask many "$TRACELOOM_BY_PROCESSES/trace-stats" $run inputs/$input
    cmp -s one.out many.out || fail "$run of $input differs: $(diff one.out many.out | head -n 9)"
    cmp -s one.err many.err || fail "$run of $input says something else: $(diff one.err many.err | head -n 9)"
  done < <(runs)
done
finish
